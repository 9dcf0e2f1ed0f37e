// The SDK of this folder's agents, and a log of every message that passes it.
//
// ACP_PEERS   folder in which the SDK is installed
// PEER_LOG    file for every message that passes the SDK, one JSON value a line
// PEER_LOCKED file that says who is logged in; unset: no login is needed

import { appendFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

export const locked = process.env.PEER_LOCKED;
if (process.argv.includes('--login')) {
  console.log('Hello, who are you?');
  writeFileSync(locked, 'terminal');
  process.exit(0);
}

// One of the SDK's entries: '' or '/experimental/v2'.
export function sdk(entry) {
  const installed = createRequire(join(process.env.ACP_PEERS, 'typescript', 'package.json'));
  return import(pathToFileURL(installed.resolve(`@agentclientprotocol/sdk${entry}`)));
}

const log = (row) => appendFileSync(process.env.PEER_LOG, JSON.stringify(row) + '\n');
const theirs = new Map(); // id -> method of the client's requests
const ours = new Map();
log({ event: 'start', pid: process.pid, argv: process.argv });
console.error = (...words) => log({ complaint: words.map(String).join(' ') });

function watch(key, asked, answers) {
  return new TransformStream({
    transform(message, controller) {
      if (message.method && 'id' in message) asked.set(message.id, message.method);
      const to = message.method ? undefined : answers.get(message.id);
      log({ [key]: message, to });
      if (key === 'said' && to === 'initialize' && message.result) {
        log({ event: 'speaks', id: message.id, version: message.result.protocolVersion });
      }
      controller.enqueue(message);
    },
  });
}

// Standard input and output as the SDK takes them.
export function stream(acp) {
  const wire = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  const written = watch('said', ours, theirs);
  written.readable.pipeTo(wire.writable);
  return { readable: wire.readable.pipeThrough(watch('msg', theirs, ours)), writable: written.writable };
}
