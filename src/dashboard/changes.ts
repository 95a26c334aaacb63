// What the relay tells of its changes: which thing it was, never what is in it.

export type What =
  | 'message'
  | 'conversation'
  | 'line'
  | 'delivery'
  | 'webhook'
  | 'key'
  | 'health'
  | 'setting'
  | 'backup'
  | 'session'

export type Change = {
  readonly what: What
  readonly id: string
  /** Where the thing is a message. */
  readonly conversation_id?: string | undefined
}

/** `reset`: anything may have changed, read afresh. */
export type Told = Change | 'reset'

export type Changes = {
  /** Returns what ends the subscription. */
  subscribe(listener: (told: Told) => void): () => void
}
