/// The program's version; the same for all of the package's programs.
package let pushrouterdVersion = "0.1.0"
