// Twilio's Messages API (2010-04-01), as its own and other libraries use it: sends, reads, media, callbacks, and
// webhooks with replies in TwiML.

import type { CompatApi } from '../compat-api.ts'
import { refusal } from './errors.ts'
import { accountOf } from './ids.ts'
import { list } from './lists.ts'
import { create, fetch, fetchMedium, listMedia, ofAccount, update } from './messages.ts'
import { VERSION } from './resources.ts'
import { TWILIO_WEBHOOK } from './webhook.ts'

const ROOT = `/${VERSION}/Accounts` as const

export const TWILIO: CompatApi = {
  name: 'twilio',
  title: 'Twilio',
  // Twilio's libraries can use another host, but some can't use a path before their own.
  isAtRoot: true,
  credentials: ['account'],
  account: accountOf,
  scopes: [
    'messages:read',
    'messages:send',
    'attachments:read',
    'attachments:write',
    'webhooks:write',
    'webhooks:private',
  ],
  bodyBytesMax: 256 * 1_024,
  answersAtOnce: true,
  routes: {
    [`POST ${ROOT}/:account/Messages.json`]: ofAccount(create),
    [`GET ${ROOT}/:account/Messages.json`]: ofAccount(list),
    [`GET ${ROOT}/:account/Messages/:sid`]: ofAccount(fetch),
    [`POST ${ROOT}/:account/Messages/:sid`]: ofAccount(update),
    [`GET ${ROOT}/:account/Messages/:sid/Media.json`]: ofAccount(listMedia),
    [`GET ${ROOT}/:account/Messages/:sid/Media/:media`]: ofAccount(fetchMedium),
  },
  refusal,
  connect: ({ url, key, secret }) => ({
    base_url: url,
    account_sid: key,
    auth_token: secret,
    // A messaging service stands for any of the account's lines.
    messaging_service_sid: key.replace('AC', 'MG'),
  }),
  webhook: TWILIO_WEBHOOK,
}
