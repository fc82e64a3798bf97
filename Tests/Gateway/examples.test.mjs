// examples.py runs this with the test runner of Node.js: the functions of packaging/examples/tests/jest.setup.mjs.
import assert from "node:assert"
import { after, before, test } from "node:test"
import { request } from "node:http"
import { connect } from "node:tls"
import { readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import startOrStop, { lastNumber, pushes, refused } from "./jest.setup.mjs"

before(startOrStop)
after(startOrStop)

// Sends by the proxy, as an agent for HTTPS_PROXY does.
function send(token) {
    const body = JSON.stringify({ message: { token, data: { order_id: "1017" } } })
    const { hostname, port } = new URL(process.env.HTTPS_PROXY)
    return new Promise((resolve, reject) => {
        request({ hostname, port, method: "CONNECT", path: "fcm.googleapis.com:443" }).on("connect", (_, socket) => {
            const ca = readFileSync(process.env.NODE_EXTRA_CA_CERTS)
            const secure = connect({ socket, servername: "fcm.googleapis.com", ca }, () => secure.write(
                `POST /v1/projects/demo/messages:send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nConnection: close\r\n`
                + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`))
            let answer = ""
            secure.on("data", (part) => { answer += part }).on("end", () => resolve(answer)).on("error", reject)
        }).on("error", reject).end()
    })
}

test("a push is seen, and none that was not sent", async () => {
    const number = await lastNumber()
    assert.match(await send("tok1"), /projects\/demo\/messages\//)
    assert.deepEqual((await pushes("device:tok1", number)).map((push) => push.outcome), ["handled"])
    assert.deepEqual(await pushes("device:tok2", number, 1, 1), [])
})

test("as many pushes are waited for as the test says", async () => {
    const number = await lastNumber()
    const late = async () => { for (const _ of "12") { await setTimeout(300); await send("many") } }
    const [found] = await Promise.all([pushes("device:many", number, 2), late()])
    assert.equal(found.length, 2)
})

test("a refused send is no push", async () => {
    const number = await lastNumber()
    assert.match(await send("err-UNREGISTERED"), /UNREGISTERED/)
    assert.equal((await refused("device:err-*", number)).length, 1)
    assert.deepEqual(await pushes("", number, 1, 1), [])
})

test("a misspelt query is an error with the page's message", async () => {
    await assert.rejects(pushes("devcie:tok1"), /^Error: devcie:tok1 .*did you mean device:\?$/)
})
