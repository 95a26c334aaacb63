// Novu's "Generic SMS", set up as its form asks.

import { GenericSmsProvider } from '@novu/providers'

const { url, key, secret, TO } = process.env
const provider = new GenericSmsProvider({
  baseUrl: `${url}/send`,
  apiKeyRequestHeader: 'X-API-Key',
  apiKey: key,
  secretKeyRequestHeader: 'X-API-Secret',
  secretKey: secret,
  from: 'Shop',
  idPath: 'id',
  datePath: 'date',
})
const { id } = await provider.sendMessage({ to: TO, content: 'from Novu', id: 'job-1' })
if (!id.startsWith('msg_')) throw new Error(`Novu read ${id} as the id.`)
