// An agent of version 1 made with the official TypeScript SDK (see wire.mjs). A prompt "do NAME" makes it do what
// acts.mjs has by that name.
//
// PEER_LACKS  capabilities it does without, with blanks between: load list resume
// PEER_MODES  set: sessions have modes, no options
// PEER_SLOW   set: sessions are made only to be cancelled

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { acts } from './acts.mjs';
import { locked, sdk, stream } from './wire.mjs';

const acp = await sdk('');
const { agent: Agent, client: Client } = acp.methods;

// -- sessions

const lacks = (process.env.PEER_LACKS ?? '').split(' ');
const can = (name) => (lacks.includes(name) ? undefined : {});
const sessions = new Map();
let made = 0;
for (const [id, title] of [['old-1', 'The first of old'], ['old-2', 'The second of old']]) {
  sessions.set(id, { cwd: process.cwd(), title, updatedAt: '2026-01-02T03:04:05Z' });
}

const modes = (current = 'ask') => ({
  currentModeId: current,
  availableModes: [
    { id: 'ask', name: 'Ask first', description: 'asks before each change' },
    { id: 'code', name: 'Just code' },
  ],
});
const choices = (pairs) => pairs.map(([value, name]) => ({ value, name }));
const options = ({ mode = 'ask', model = 'small', effort = 'low', tone = 'dry', web = false }) => [
  { id: 'mode', name: 'Mode', category: 'mode', type: 'select', currentValue: mode,
    options: choices([['ask', 'Ask first'], ['code', 'Just code']]) },
  { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: model,
    options: [
      { group: 'here', name: 'Here', options: choices([['small', 'Small one'], ['large', 'Large one']]) },
      { group: 'there', name: 'There', options: choices([['far', 'Far one']]) },
    ] },
  { id: 'effort', name: 'Effort', category: 'thought_level', type: 'select', currentValue: effort,
    options: choices([['low', 'Low'], ['high', 'High']]) },
  { id: 'tone', name: 'Tone', category: 'model_config', type: 'select', currentValue: tone,
    options: choices([['dry', 'Dry'], ['warm', 'Warm']]) },
  { id: 'web', name: 'Web search', description: 'may look things up', type: 'boolean', currentValue: web },
];

const setup = (session) =>
  process.env.PEER_MODES
    ? { modes: modes(session.values?.mode) }
    : { configOptions: options(session.values ?? {}) };

function known(sessionId) {
  const session = sessions.get(sessionId);
  if (!session) throw acp.RequestError.resourceNotFound(sessionId);
  return session;
}

function loggedIn() {
  if (locked && !existsSync(locked)) throw acp.RequestError.authRequired();
}

const update = (client, sessionId, kind, fields) =>
  client.notify(Client.session.update, { sessionId, update: { sessionUpdate: kind, ...fields } });
const text = (words) => ({ content: { type: 'text', text: words } });

// -- the agent

acp
  .agent({ name: 'typescript-peer' })
  .onRequest(Agent.initialize, ({ params }) => ({
    protocolVersion: params.protocolVersion,
    agentInfo: { name: 'typescript-peer', title: 'TypeScript peer', version: '1.0.0' },
    agentCapabilities: {
      loadSession: !lacks.includes('load'),
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: can('list'),
        resume: can('resume'),
        close: {},
        delete: {},
        additionalDirectories: {},
      },
      auth: { logout: {} },
    },
    authMethods: [
      { id: 'own', name: 'By itself', description: 'needs nothing' },
      { id: 'tty', name: 'In a terminal', type: 'terminal', args: ['--login'], env: { PEER_SAYS: 'hi' } },
    ],
  }))
  .onRequest(Agent.authenticate, ({ params }) => {
    if (locked) writeFileSync(locked, params.methodId);
    return {};
  })
  .onRequest(Agent.logout, () => {
    if (locked) rmSync(locked, { force: true });
    return {};
  })
  .onRequest(Agent.session.new, async ({ params, client, signal }) => {
    loggedIn();
    if (process.env.PEER_SLOW) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw acp.RequestError.requestCancelled();
    }
    made += 1;
    const sessionId = `new-${made}`;
    sessions.set(sessionId, { cwd: params.cwd });
    // Before the answer, as some agents of the field do.
    const commands = [
      { name: 'count', description: 'counts what you name', input: { hint: 'what to count' } },
      { name: 'stop', description: 'stops counting' },
    ];
    await update(client, sessionId, 'available_commands_update', { availableCommands: commands });
    return { sessionId, ...setup(sessions.get(sessionId)) };
  })
  .onRequest(Agent.session.load, async ({ params, client }) => {
    const session = known(params.sessionId);
    const id = params.sessionId;
    await update(client, id, 'user_message_chunk', text('What did we say?'));
    await update(client, id, 'agent_thought_chunk', text('It was long ago.'));
    await update(client, id, 'tool_call', { toolCallId: 'past', title: 'Look back', kind: 'search', status: 'completed' });
    await update(client, id, 'agent_message_chunk', text('We said *this*.'));
    await update(client, id, 'session_info_update', { title: session.title, updatedAt: session.updatedAt });
    return setup(session);
  })
  .onRequest(Agent.session.resume, ({ params }) => setup(known(params.sessionId)))
  .onRequest(Agent.session.list, ({ params }) => {
    const all = [...sessions].filter(([, each]) => !params.cwd || each.cwd === params.cwd);
    const at = params.cursor ? Number(params.cursor.slice(1)) : 0;
    const page = all.slice(at, at + 1).map(([sessionId, each]) => ({
      sessionId,
      cwd: each.cwd,
      title: each.title,
      updatedAt: each.updatedAt,
    }));
    return { sessions: page, nextCursor: at + 1 < all.length ? `p${at + 1}` : undefined };
  })
  .onRequest(Agent.session.delete, ({ params }) => {
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest(Agent.session.close, ({ params }) => {
    known(params.sessionId);
    return {};
  })
  .onRequest(Agent.session.setMode, ({ params }) => {
    known(params.sessionId).values = { mode: params.modeId };
    return {};
  })
  .onRequest(Agent.session.setConfigOption, ({ params }) => {
    const session = known(params.sessionId);
    session.values = { ...session.values, [params.configId]: params.value };
    session.changed?.();
    return { configOptions: options(session.values) };
  })
  .onRequest(Agent.session.prompt, async ({ params, client }) => {
    const session = known(params.sessionId);
    const words = params.prompt.filter((block) => block.type === 'text').map((block) => block.text);
    const all = words.join('\n');
    const [, name, rest] = /^do (\w+) ?(.*)$/m.exec(all) ?? [null, 'answer', all];
    session.cancelled = new AbortController();
    const turn = {
      acp, client, options, modes, session, rest,
      sessionId: params.sessionId,
      prompt: params.prompt,
      cancelled: session.cancelled.signal,
      update: (kind, fields) => update(client, params.sessionId, kind, fields),
      say: (words) => update(client, params.sessionId, 'agent_message_chunk', text(words)),
      ask: (method, fields, how) => client.request(method, { sessionId: params.sessionId, ...fields }, how),
    };
    return { stopReason: (await acts[name](turn)) ?? 'end_turn' };
  })
  .onNotification(Agent.session.cancel, ({ params }) => {
    known(params.sessionId).cancelled?.abort();
  })
  .connect(stream(acp));
