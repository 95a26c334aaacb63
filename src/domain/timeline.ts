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

/** The facts of a sentence that may have changed when it is read. */
export type MarkDetail = {
  /** The name of the webhook, or the title of the alert. */
  readonly name?: string | undefined
  /**
   * In milliseconds since 1970: since when the webhook had failed, the alert lasted, or nothing is known before a
   * restore; and the deliveries that waited.
   */
  readonly since?: number | undefined
  readonly waiting?: number | undefined
  readonly reason?: string | undefined
  /** How the opt-out came: by a keyword in a message, or by whom. */
  readonly source?: string | undefined
}
