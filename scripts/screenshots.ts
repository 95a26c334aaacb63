// Takes the pictures of the dashboard that the README shows: `bun scripts/screenshots.ts`, after a build.

import { join } from 'node:path'

import { showBusyWeeks } from '../test/browser/busy-weeks.ts'
import { lineIds, say } from '../test/browser/furnished.ts'
import { messageWith, play } from '../test/browser/rich.ts'
import { Stage } from '../test/browser/stage.ts'
import { eventually } from '../test/support/eventually.ts'
import { Receiver } from '../test/support/receiver.ts'
import { type ApiClient } from '../test/support/relay-process.ts'

const GUIDES = `${import.meta.dir}/../src/guides`
const VIEWPORT = { width: 1_120, height: 720 }
const THEMES = [
  ['light', '.png'],
  ['dark', '-dark.png'],
] as const

const MAYA = '+12025550111'
const CUSTOMERS = [
  ['+12025550113', 'Carla Rossi', 'Your table for four at 7 pm is booked.'],
  ['+12025550114', 'Daniel Okafor', 'The part arrived. Shall we fit it on Thursday?'],
  ['+12025550115', 'Yuki Tanaka', 'Thank you for your visit.'],
] as const

/**
 * Writes `dashboard.png`, Home after two busy weeks, and `thread.png`, a conversation, into `folder`; for a dark page,
 * `dashboard-dark.png` and `thread-dark.png`.
 */
export async function takeScreenshots(folder: string): Promise<void> {
  await using stage = await Stage.open()
  using receiver = new Receiver()
  const api = await stage.api()
  const lines = await lineIds(api)
  const description = 'Booking system'
  const events = ['message.received', 'message.sent']
  await api.ask('POST', '/api/v1/webhooks', { url: receiver.url, events, description })
  await name(api, lines)
  const thread = await talk(api, lines)
  for (const [colorScheme, ending] of THEMES) {
    const watched = await stage.page({ viewport: VIEWPORT, deviceScaleFactor: 2, colorScheme })
    await showBusyWeeks(watched, lines)

    await watched.show('home')
    await watched.capture(join(folder, `dashboard${ending}`))
    await watched.show(`conversations/${thread}`)
    await watched.page.getByRole('heading', { name: 'Maya Fischer' }).waitFor()
    await watched.capture(join(folder, `thread${ending}`))
  }
}

async function name(api: ApiClient, lines: readonly string[]): Promise<void> {
  for (const [place, label] of ['Front desk', 'Workshop'].entries()) {
    await api.ask('PATCH', `/api/v1/phone-lines/${lines[place]}`, { label })
  }
  for (const [handle, person] of [[MAYA, 'Maya Fischer'], ...CUSTOMERS] as const) {
    await api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(handle)}`, { name: person })
  }
}

/** A day at a bicycle shop; gives the id of the conversation with Maya. */
async function talk(api: ApiClient, [desk, workshop]: readonly [string, string]): Promise<string> {
  const write = (text: string) => play(api, workshop, { type: 'message', from: MAYA, text })
  for (const [to, , text] of CUSTOMERS) await say(api, to, text, desk)
  await write('Hi, is my bike ready?')
  const { conversation_id } = await messageWith(api, 'Hi, is my bike ready?')
  await sent(api, 'Almost! We are fitting the new chain now.', workshop)
  await write('Great. Can I come by at five?')
  await messageWith(api, 'Great. Can I come by at five?')
  await sent(api, 'Five is fine. We are open until six.', workshop)
  await write('See you then!')
  await messageWith(api, 'See you then!')
  return conversation_id
}

/** Sends Maya a text, and waits until she read it. */
async function sent(api: ApiClient, text: string, lineId: string): Promise<void> {
  const { id } = await say(api, MAYA, text, lineId)
  await eventually('she read it', async () => {
    const { status } = await api.ask<{ status: string }>('GET', `/api/v1/messages/${id}`)
    return status === 'read' ? true : null
  })
}

if (import.meta.main) {
  await takeScreenshots(GUIDES)
  process.exit(0)
}
