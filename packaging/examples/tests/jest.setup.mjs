// Pushes of your tests go to a pushrouterd of their own. In jest.config.mjs:
//     export default { globalSetup: "./jest.setup.mjs", globalTeardown: "./jest.setup.mjs" }
// Or run the tests by "pushctl dev --temporary -- npx jest": that is needed with --runInBand, because Node.js reads
// NODE_EXTRA_CA_CERTS at its start. In a test:
//     import { lastNumber, pushes } from "./jest.setup.mjs"
//     const before = await lastNumber()
//     // ... your code sends a push ...
//     expect((await pushes("device:tok1", before))[0].outcome).toBe("handled")
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { once } from "node:events"

// Jest calls this once before all tests, and once after them.
export default async function startOrStop() {
    const running = globalThis.pushctlDev
    if (running) {
        running.kill("SIGINT")
        const [status] = await once(running, "exit")
        if (status !== 0) throw new Error(`pushctl dev ended with ${status}`)
        globalThis.pushctlDev = undefined
        return
    }
    if (process.env.PUSHROUTER_PAGE) return // Run by "pushctl dev -- npx jest".
    const words = ["dev", "--temporary", "--json", "--port", "0", "--gateway-port", "0"]
    const dev = spawn("pushctl", words, { stdio: ["ignore", "pipe", "inherit"] })
    const [line] = await Promise.race([
        once(createInterface({ input: dev.stdout }), "line"),
        once(dev, "exit").then(() => { throw new Error("pushctl dev did not start: standard error has the reason") }),
    ])
    Object.assign(process.env, JSON.parse(line).environment)
    globalThis.pushctlDev = dev
}

// Waits for the pushes after a number that match a query, and returns them, newest first. It returns when there are
// `count`, each with its outcome, or with fewer after `seconds`: [] says that no push came.
export async function pushes(query, after = 0, count = 1, seconds = 10) {
    return search(`${query} -is:pending -code:refused_send`, after, count, seconds)
}

// The same for the sends that the gateway refused.
export async function refused(query, after = 0, count = 1, seconds = 10) {
    return search(`${query} code:refused_send`, after, count, seconds)
}

// The number of the last push, for a test that asks for its own.
export async function lastNumber() {
    return (await ask({ limit: 1 }))[0]?.seq ?? 0
}

async function search(query, after, count, seconds) {
    const end = Date.now() + seconds * 1000
    for (;;) {
        const left = Math.max(0, end - Date.now())
        const found = await ask({ query, after, limit: 500, wait: `${left}ms` }) // until the first is there
        if (found.length >= count || !left) return found
        await new Promise((resolve) => setTimeout(resolve, 50))
    }
}

async function ask(parameters) {
    const answer = await fetch(`${process.env.PUSHROUTER_PAGE}/api/pushes?${new URLSearchParams(parameters)}`)
    if (answer.status >= 400) throw new Error((await answer.json()).error.message)
    return answer.status === 200 ? (await answer.json()).pushes : []
}
