// A trace: what Messages writes into chat.db, and when.

/** A column's value. A date is `at` milliseconds from the beginning of the trace, mostly below 0. */
export type TraceValue = number | string | null | { readonly at: number }

/**
 * Columns of `message`, by their names, and three words more: `body` is a text that goes into
 * `attributedBody`, encoded, `file` the path of a file of ours that is instead of it, and `handle` is
 * whom `handle_id` points at.
 */
export type RowValues = Readonly<Record<string, TraceValue>>

/** `t` is milliseconds from the beginning of the trace; `row` names a message within it. */
export type TraceStep = { readonly t: number; readonly row: string } & (
  | { readonly op: 'insert'; readonly table: 'message'; readonly set: RowValues }
  | { readonly op: 'update'; readonly table: 'message'; readonly set: RowValues }
  /** Into the direct chat with a handle, or into a group where the name begins with `chat`. */
  | { readonly op: 'join'; readonly table: 'chat_message_join'; readonly chat: string }
)
