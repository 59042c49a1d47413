// The app on Node's http2 module: one connection an origin, kept open.
// Reads requests from standard input, one a line: ID TAB METHOD TAB URL TAB base64(header lines) TAB base64(body)
// Answers:                                        ID TAB STATUS TAB base64(header lines) TAB base64(body)
//                                             or  ID TAB error TAB base64(message)
'use strict';
const http2 = require('node:http2');
const readline = require('node:readline');
const sessions = new Map();
const encode = (value) => Buffer.from(value).toString('base64');

function session(origin) {
  let open = sessions.get(origin);
  if (!open || open.closed || open.destroyed) {
    open = http2.connect(origin);
    open.on('error', () => {});
    sessions.set(origin, open);
  }
  return open;
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const [id, method, url, headerLines, body64] = line.split('\t');
  const target = new URL(url);
  const headers = { ':method': method, ':path': target.pathname + target.search };
  for (const field of Buffer.from(headerLines, 'base64').toString().split('\n').filter(Boolean)) {
    const colon = field.indexOf(':');
    headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
  }
  const body = Buffer.from(body64 || '', 'base64');
  if (body.length) headers['content-length'] = body.length;
  const stream = session(target.origin).request(headers, { endStream: body.length === 0 });
  const chunks = [];
  let received = {};
  stream.on('response', (fields) => { received = fields; });
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('error', (error) => console.log([id, 'error', encode(String(error.message))].join('\t')));
  stream.on('end', () => {
    const lines = Object.entries(received).filter(([name]) => !name.startsWith(':')).map(([n, v]) => `${n}: ${v}`);
    console.log([id, received[':status'], encode(lines.join('\n')), encode(Buffer.concat(chunks))].join('\t'));
  });
  if (body.length) stream.end(body);
}).on('close', () => { for (const open of sessions.values()) open.close(); });
