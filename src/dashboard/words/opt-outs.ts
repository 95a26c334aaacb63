// Sentences about people who want no more messages.

export const OPT_OUTS = {
  title: 'Opt-outs',
  lead: 'People who texted STOP or a similar word, and those you add. Whether messages to them are blocked is up to Settings, Messages.',
  handle: 'Number or email',
  add: 'Add',
  added: 'Opt-out added.',
  list: 'Opt-outs',
  none: 'No opt-outs yet.',
  more: 'Only the latest 200 are shown. hookline opt-outs list shows more.',
  byHand: 'Added by hand',
  onLine: (line: string) => `only ${line}`,
  end: 'Remove…',
  endThis: 'Remove this opt-out?',
  confirm: 'Remove',
  consequence: 'Messages can be sent to them again. Only do this if they asked for it.',
  ended: 'Opt-out removed.',
  warning: 'They asked for no more messages. Write only if they expect your reply.',
  writeAnyway: 'Write anyway',
  confirmed: 'You chose to write anyway. Your messages here will be sent.',
} as const
