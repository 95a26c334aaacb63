// A test in the browser. It has a relay of its own, and fails if a page did what no page of ours may do.

import { expect } from 'bun:test'

import { testNeeding } from '../support/needs.ts'
import { findChromium } from './chromium.ts'
import { lineIds, say, type Relay } from './furnished.ts'
import { PERSON, Stage, type Look, type StageOptions } from './stage.ts'

export type Scene = Relay & { readonly stage: Stage }

type Thread = { readonly to?: string; readonly text?: string; readonly look?: Look }

const TIMEOUT_MS = 120_000

/** A story on a relay with a password and two simulated lines. */
export function story(name: string, run: (scene: Scene) => Promise<void>): void {
  storyOn({}, name, async (stage) => {
    const api = await stage.api()
    await run({ stage, api, lines: await lineIds(api) })
  })
}

/** A story on another relay. */
export function storyOn(
  options: StageOptions,
  name: string,
  run: (stage: Stage) => Promise<void>,
): void {
  testNeeding('Chromium', findChromium() !== null)(
    name,
    async () => {
      await using stage = await Stage.open(options)

      await run(stage)

      expect(stage.faults).toEqual([])
    },
    TIMEOUT_MS,
  )
}

/** Sends a text to a person, and opens the conversation. */
export async function openThread({ stage, api, lines: [line] }: Scene, thread: Thread = {}) {
  const { to = PERSON, text = 'Your table is ready.', look = {} } = thread
  const { conversation_id: id } = await say(api, to, text, line)
  const watched = await stage.page(look)
  await watched.show(`conversations/${id}`)
  return { id, watched, page: watched.page, thread: watched.thread }
}
