/// The program's version; the same for all of the package's programs.
public let pushrouterdVersion = "1.0.0-dev"
