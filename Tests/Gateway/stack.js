// The HTTP stacks of Node.js against the gateway, by host names: https as firebase-admin uses it, http2 as APNs' clients do.
// Prints a line of JSON for each step: its name, the status and whether the answer is as it should be.
'use strict';
const http2 = require('http2');
const https = require('https');

const print = (step, status, good) => console.log(JSON.stringify({ step, status, good }));

function post(path, body, agent) {
  return new Promise((resolve, reject) => {
    const request = https.request(
      { host: 'fcm.googleapis.com', path, method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.on('data', (part) => { text += part; });
        response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], text }));
      });
    request.on('error', reject);
    // Without a length the body is chunked.
    request.write(body.slice(0, 5));
    request.end(body.slice(5));
  });
}

async function fcm() {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 10 });
  const body = JSON.stringify({ message: { token: 'tok1', data: { a: 'b' } } });
  const one = await post('/v1/projects/demo/messages:send', body, agent);
  print('https, chunked body', one.status, one.status === 200 && one.type.startsWith('application/json'));
  const all = await Promise.all(Array.from({ length: 100 }, () => post('/v1/projects/demo/messages:send', body, agent)));
  print('https, 100 over 10 connections', 200, all.every((answer) => answer.status === 200));
  const gone = await post('/v1/projects/demo/messages:send', body.replace('tok1', 'err-UNREGISTERED'), agent);
  print('https, an error is JSON', gone.status, gone.status === 404 && JSON.parse(gone.text).error.status === 'NOT_FOUND');
  agent.destroy();
}

function apns() {
  return new Promise((resolve, reject) => {
    const session = http2.connect('https://api.push.apple.com');
    session.on('error', reject);
    let left = 100;
    let good = true;
    for (let number = 0; number < 100; number += 1) {
      const id = `35597c7e-9cde-479d-b639-${number.toString(16).padStart(12, '0')}`;
      const stream = session.request({
        ':method': 'POST', ':path': `/3/device/${number.toString(16).padStart(64, '0')}`, 'apns-topic': 'com.example.shop',
        'apns-id': id, 'apns-push-type': 'alert', authorization: 'bearer a.b.c' });
      stream.on('response', (headers) => { good = good && headers[':status'] === 200 && headers['apns-id'] === id; });
      stream.on('error', reject);
      stream.on('close', () => {
        left -= 1;
        if (left === 0) session.close(() => { print('http2, 100 at once', 200, good); resolve(); });
      });
      stream.resume();
      stream.end(JSON.stringify({ aps: { alert: 'hi' } }));
    }
  });
}

fcm().then(apns).catch((error) => { print('failed', String(error), false); process.exitCode = 1; });
