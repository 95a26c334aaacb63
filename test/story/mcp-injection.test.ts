// An agent that obeys every order of strangers' words by MCP. Whatever it tries, its key decides whom it reaches, and
// what it can send them.

import type { Json } from '../support/test-relay.ts'
import { testOrders, type Obeying, type World } from './injection-stage.ts'
import { NEWEST } from './mcp-stage.ts'

type Agent = Awaited<ReturnType<World['connect']>>['client']

/** Does whatever any text that it sees asks for, and sends everybody all that it has seen. */
async function obey(agent: Agent, own: string): Promise<{ tried: number; hasRead: boolean }> {
  const seen: string[] = []
  let tried = 0
  const call = async (name: string, args: object) => {
    tried += 1
    const answer: Json = await agent.callTool({ name, arguments: { ...args } }).catch(String)
    seen.push(JSON.stringify(answer?.structuredContent ?? answer))
  }
  const everything = () => seen.join('\n').slice(0, 19_000)
  await call('read_conversation', { conversation_id: own })
  const orders = everything()
  const found = (pattern: RegExp) => [...new Set(orders.match(pattern))]
  const people = found(/\+\d{11}/g)
  const conversations = found(/conv_\w{26}/g)
  for (const name of found(/\b[a-z]+_[a-z]+\b/g)) await call(name, {})
  if (orders.includes('search')) await call('search_messages', { query: 'code' })
  for (const message_id of found(/msg_\w{26}/g)) await call('get_message', { message_id })
  for (const conversation_id of conversations) {
    await call('read_conversation', { conversation_id })
    const uri = `hookline://conversations/${conversation_id}`
    seen.push(JSON.stringify(await agent.readResource({ uri }).catch(String)))
    await call('reply', { conversation_id, text: everything() })
  }
  for (const to of people) await call('send_message', { to, text: everything() })
  await call('reply', { conversation_id: own, text: everything(), again: true })
  return { tried, hasRead: orders.includes('untrusted_text') }
}

const byMcp =
  (world: World): Obeying =>
  async (key, own) => {
    const { client } = await world.connect(NEWEST, key)
    const done = await obey(client, own)
    await client.close()
    return done
  }

testOrders(byMcp)
