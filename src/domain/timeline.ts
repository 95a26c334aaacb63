// What the timeline marks as it happens, because no other table keeps it.

export const MARK_KINDS = [
  'webhook.failing',
  'webhook.working',
  'webhook.turned_off',
  'opt_out',
  'opt_in',
  'backup.made',
  'backup.failed',
  'restored',
  'alert.raised',
  'alert.resolved',
] as const
export type MarkKind = (typeof MARK_KINDS)[number]

/** The facts of a timeline sentence that may have changed by the time it is read. */
export type MarkDetail = {
  /** The name of the webhook, or the title of the alert. */
  readonly name?: string | undefined
  /**
   * Milliseconds since 1970: the start of the webhook's failure, of the alert, or of the time that a restore left
   * unknown. `waiting` is the number of deliveries that waited.
   */
  readonly since?: number | undefined
  readonly waiting?: number | undefined
  readonly reason?: string | undefined
  /** The source of the opt-out: a keyword in a message, or its author. */
  readonly source?: string | undefined
}
