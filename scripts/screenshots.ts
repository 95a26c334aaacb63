// Takes the picture of the dashboard that the README shows: `bun scripts/screenshots.ts`, after a build.

import { join } from 'node:path'

import { furnish, lineIds, say } from '../test/browser/furnished.ts'
import { Stage } from '../test/browser/stage.ts'

const GUIDES = `${import.meta.dir}/../src/guides`
const VIEWPORT = { width: 1120, height: 700 }

const CUSTOMERS = [
  ['+12025550111', 'Your bike is ready. We are open until 6 pm.'],
  ['+12025550112', 'Your table for four at 7 pm is booked.'],
  ['+12025550113', 'The part arrived. Shall we fit it on Thursday?'],
] as const

/** Writes `dashboard.png` into `folder`: Home of a relay on which a day's messages were sent. */
export async function takeScreenshots(folder: string): Promise<void> {
  await using stage = await Stage.open()
  using furniture = await furnish(stage)
  const [, line] = await lineIds(furniture.api)
  for (const [to, text] of CUSTOMERS) await say(furniture.api, to, text, line)
  const watched = await stage.page({ viewport: VIEWPORT, colorScheme: 'light' })
  await watched.show('home')
  await watched.page.screenshot({ path: join(folder, 'dashboard.png'), animations: 'disabled' })
}

if (import.meta.main) {
  await takeScreenshots(GUIDES)
  process.exit(0)
}
