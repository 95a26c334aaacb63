/** `plain` nothing to say, `ok` good, `wait` under way, `warn` look at it, `bad` does not work. */
export type Tone = 'plain' | 'ok' | 'wait' | 'warn' | 'bad'
