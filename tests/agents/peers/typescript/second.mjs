// An agent of version 2 made with the official TypeScript SDK (see wire.mjs). A prompt "do NAME" makes it do what
// second_acts.mjs has by that name.
//
// PEER_LACKS  what it does without, with blanks between: session
// PEER_ROUTED set: the SDK's router finds out which version is spoken
// PEER_SLOW   set: sessions are made only to be cancelled

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { acts } from './second_acts.mjs';
import { locked, sdk, stream } from './wire.mjs';

const acp = await sdk('/experimental/v2');
const { agent: Agent, client: Client } = acp.methods;

// -- sessions

const sessions = new Map();
let made = 0;
for (const [id, title] of [['old-1', 'The first of old'], ['old-2', 'The second of old']]) {
  sessions.set(id, { cwd: process.cwd(), title, updatedAt: '2026-01-02T03:04:05Z', values: {}, count: 0 });
}

const choices = (pairs) => pairs.map(([value, name]) => ({ value, name }));
const select = (configId, name, category, currentValue, options) =>
  ({ type: 'select', configId, name, category, currentValue, options });
const options = ({ mode = 'ask', model = 'small', effort = 'low', tone = 'dry', web = false }) => [
  select('mode', 'Mode', 'mode', mode, choices([['ask', 'Ask first'], ['code', 'Just code']])),
  select('model', 'Model', 'model', model, [
    { groupId: 'here', name: 'Here', options: choices([['small', 'Small one'], ['large', 'Large one']]) },
    { groupId: 'there', name: 'There', options: choices([['far', 'Far one']]) },
  ]),
  select('effort', 'Effort', 'thought_level', effort, choices([['low', 'Low'], ['high', 'High']])),
  select('tone', 'Tone', 'model_config', tone, choices([['dry', 'Dry'], ['warm', 'Warm']])),
  { type: 'boolean', configId: 'web', name: 'Web search', description: 'may look things up', currentValue: web },
];
const commands = [
  { type: 'command', name: 'count', description: 'counts what you name', input: { type: 'text', hint: 'what to count' } },
  { type: 'command', name: 'stop', description: 'stops counting' },
];
const setup = (session) => ({ configOptions: options(session.values), availableCommands: commands });

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
const text = (words) => ({ type: 'text', text: words });

// What a message leads to, from running to idle.
async function work(client, sessionId, session, prompt, messageId) {
  const tell = (kind, fields) => update(client, sessionId, kind, fields);
  const state = (name, fields) => tell('state_update', { state: name, ...fields });
  const words = prompt.filter((block) => block.type === 'text').map((block) => block.text);
  const all = words.join('\n');
  const [, name, rest] = /^do (\w+) ?(.*)$/m.exec(all) ?? [null, 'answer', all];
  const turn = {
    acp, client, options, session, rest, sessionId, prompt, state,
    cancelled: session.cancelled.signal,
    update: tell,
    say: (said) => tell('agent_message_chunk', { messageId: `said-${(session.count += 1)}`, content: text(said) }),
    ask: async (method, fields, how) => {
      await state('requires_action');
      const asked = client.request(method, { sessionId, ...fields }, how);
      return asked.finally(() => state('running'));
    },
  };
  await state('running');
  await tell('user_message', { messageId, content: prompt });
  let ending;
  try {
    ending = (await acts[name](turn)) ?? { stopReason: 'end_turn' };
  } catch (error) {
    ending = { stopReason: 'error', error: { code: error.code ?? -32603, message: error.message } };
  }
  await state('idle', ending);
  await session.after?.();
  session.after = undefined;
}

// -- the agent

const app = acp
  .agent({ name: 'typescript-peer' })
  .onRequest(Agent.initialize, () => ({
    protocolVersion: 2,
    info: { name: 'typescript-peer', title: 'TypeScript peer', version: '2.0.0' },
    capabilities: (process.env.PEER_LACKS ?? '').includes('session') ? {} : {
      session: {
        prompt: { image: {}, audio: {}, embeddedContext: {} },
        mcp: { stdio: {}, http: {} },
        delete: {},
        additionalDirectories: {},
      },
    },
    authMethods: [
      { type: 'agent', methodId: 'own', name: 'By itself', description: 'needs nothing' },
      { type: 'terminal', methodId: 'tty', name: 'In a terminal', args: ['--login'],
        env: [{ name: 'PEER_SAYS', value: 'hi' }] },
    ],
  }))
  .onRequest(Agent.auth.login, ({ params }) => {
    if (locked) writeFileSync(locked, params.methodId);
  })
  .onRequest(Agent.auth.logout, () => {
    if (locked) rmSync(locked, { force: true });
  })
  .onRequest(Agent.session.new, async ({ params, signal }) => {
    loggedIn();
    if (process.env.PEER_SLOW) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw acp.RequestError.requestCancelled();
    }
    made += 1;
    const sessionId = `new-${made}`;
    sessions.set(sessionId, { cwd: params.cwd, values: {}, count: 0 });
    return { sessionId, ...setup(sessions.get(sessionId)) };
  })
  .onRequest(Agent.session.resume, async ({ params, client }) => {
    const session = known(params.sessionId);
    const tell = (kind, fields) => update(client, params.sessionId, kind, fields);
    if (params.replayFrom?.type === 'start') {
      await tell('user_message_chunk', { messageId: 'u', content: text('What did we say?') });
      await tell('agent_thought', { messageId: 't', content: [text('It was long ago.')] });
      await tell('tool_call_update', { toolCallId: 'past', title: 'Look back', kind: 'search', status: 'completed' });
      await tell('agent_message', { messageId: 'a', content: [text('We said *this*.')] });
      await tell('session_info_update', { title: session.title, updatedAt: session.updatedAt });
    }
    await tell('state_update', { state: 'idle' });
    return setup(session);
  })
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
  })
  .onRequest(Agent.session.close, ({ params }) => {
    known(params.sessionId);
  })
  .onRequest(Agent.session.setConfigOption, ({ params }) => {
    const session = known(params.sessionId);
    session.values = { ...session.values, [params.configId]: params.value };
    session.changed?.();
    return { configOptions: options(session.values) };
  })
  .onRequest(Agent.toolCall.cancel, ({ params }) => {
    known(params.sessionId).stop(params.toolCallId);
  })
  .onRequest(Agent.terminal.cancel, ({ params }) => {
    known(params.sessionId).stop(params.terminalId);
  })
  .onRequest(Agent.session.prompt, ({ params, client }) => {
    const session = known(params.sessionId);
    loggedIn();
    if (params.prompt.some((block) => block.text === 'do refuse')) {
      throw acp.RequestError.internalError({ reason: 'too much to do' }, 'too much to do');
    }
    const messageId = `user-${(session.count += 1)}`;
    session.cancelled = new AbortController();
    work(client, params.sessionId, session, params.prompt, messageId);
    return { messageId };
  })
  .onNotification(Agent.session.cancel, ({ params }) => {
    known(params.sessionId).cancelled?.abort();
  });

if (process.env.PEER_ROUTED) acp.agentProtocolRouter().withV2(app).connect(stream(acp));
else app.connect(stream(acp));
