// The API of `imsg rpc` (openclaw/imsg 0.15), which OpenClaw's iMessage channel speaks: JSON-RPC on the standard input
// and output of a child process. The child is `hookline imsg rpc`. It translates to the operations of the relay's own
// API, which are also below `/compat/imsg`.

import type { CompatApi } from '../compat-api.ts'

export const IMSG: CompatApi = {
  name: 'imsg',
  title: 'imsg',
  isAtRoot: false,
  credentials: ['two headers', 'bearer'],
  scopes: [
    'messages:read',
    'messages:send',
    'events:read',
    'attachments:read',
    'attachments:write',
  ],
  bodyBytesMax: 0,
  routes: {},
  operations: [
    'listConversations',
    'getConversation',
    'listMessages',
    'getMessage',
    'search',
    'listEvents',
    'sendMessage',
    'sendInConversation',
    'uploadAttachment',
    'downloadAttachment',
  ],
  isForAgents: true,
  refusal: ({ status, code, message }) => ({ status, body: { error: { code, message } } }),
  webhook: null,
  connect: ({ url, key, secret }) => ({
    command: 'hookline imsg',
    env: `HOOKLINE_URL=${url} HOOKLINE_KEY=${key}:${secret}`,
  }),
}
