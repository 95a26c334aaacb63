import { expect } from 'bun:test'

import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { PERSON, Stage } from './stage.ts'

story(
  'a page outlives a restart of the relay: it says what is lost, and is live again',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    const { conversation_id } = await say(api, PERSON, 'Your table is ready.', first)
    const watched = await stage.page()
    const trouble = watched.page.getByText('Connection to the relay lost')
    await watched.show(`conversations/${conversation_id}`)
    await watched.page.evaluate('window.isNeverReloaded = true')

    await stage.stopRelay()
    await trouble.waitFor()
    await stage.startRelay()
    await trouble.waitFor({ state: 'detached' })
    await lineIds(api)
    await say(api, PERSON, 'It is by the door.', first)
    await watched.page.getByRole('article').filter({ hasText: 'It is by the door.' }).waitFor()

    expect(await watched.page.evaluate<boolean>('window.isNeverReloaded')).toBe(true)
    expect(watched.faults.filter((fault) => !isOfTheOutage(fault))).toEqual([])
  },
)

/** Chromium itself notes each request that found nobody. */
function isOfTheOutage(fault: string): boolean {
  return /ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK|ABORTED)|status of 503/.test(fault)
}
