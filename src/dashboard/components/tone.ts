import type { IconName } from './drawings.ts'

/** `plain` nothing to say, `ok` good, `wait` under way, `warn` look at it, `bad` does not work. */
export type Tone = 'plain' | 'ok' | 'wait' | 'warn' | 'bad'

/** How a state is told. */
export type StateWords = {
  readonly text: string
  readonly tone: Tone
  readonly icon: IconName
}
