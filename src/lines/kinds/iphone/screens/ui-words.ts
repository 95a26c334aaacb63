// The words of Messages for each language of a phone; English is the only one so far. Words that were not yet
// seen on a phone through WebDriverAgent are marked unproven.

export type UiService = 'iMessage' | 'SMS'

export type UiWords = {
  /** The beginnings of own bubbles, with the service that they went by. */
  readonly own: readonly { readonly prefix: string; readonly service: UiService }[]
  /** The beginning of a bubble whose sender Messages cannot name. */
  readonly anonymous: string
  /** Placeholders of the composer, which show the service. */
  readonly imessageField: readonly string[]
  readonly textField: readonly string[]
  readonly delivered: readonly string[]
  /** Followed by the time. */
  readonly read: readonly string[]
  readonly notDelivered: readonly string[]
  /** The mark beside a bubble that was not delivered. */
  readonly failureMark: readonly string[]
  /** At the end of a conversation's label. */
  readonly unread: readonly string[]
  readonly muted: readonly string[]
  /** A bubble that says one of these and nothing else is an attachment. */
  readonly attachment: RegExp
  /** The title of a group without a name. */
  readonly people: RegExp
  readonly back: readonly string[]
  /** Before the recipient of a new message. */
  readonly recipient: string
  readonly today: string
  readonly yesterday: string
  /** Sunday first, and January first: three letters begin each. */
  readonly weekdays: readonly string[]
  readonly months: readonly string[]
  /** Buttons of alerts that change nothing. */
  readonly safeButtons: readonly string[]
}

export const ENGLISH: UiWords = {
  // ChatKit knows these two: RCS counts as a text message (CKBalloonViewAccessibility). The first was
  // seen on macOS 27.2.
  own: [
    { prefix: 'Your iMessage', service: 'iMessage' },
    { prefix: 'Your text message', service: 'SMS' },
  ],
  // Unproven: ChatKit's key is `balloon.message`.
  anonymous: 'Message',
  imessageField: ['iMessage'],
  // `Text Message • RCS` where the carrier has it.
  textField: ['Text Message', 'SMS', 'RCS'],
  delivered: ['Delivered', 'Delivered Quietly'],
  read: ['Read'],
  notDelivered: ['Not Delivered'],
  // Unproven: ChatKit's key is `failure.button.text`.
  failureMark: ['Not Delivered', 'Message not delivered', 'Message Failed', 'Alert'],
  unread: ['Unread', 'unread'],
  muted: ['Muted', 'muted'],
  // `Includes picture` and `1 image` were seen on macOS 27.2, the others are unproven.
  attachment:
    /^(?:Includes picture|Image attached|Photo|Video|Audio Message|Sticker|Attachment|\d+ (?:images?|photos?|videos?|attachments?))$/i,
  people: /^\d+ People$/i,
  // Unproven: UIKit names the button of a navigation bar after where it leads.
  back: ['Back', 'Messages'],
  recipient: 'To:',
  today: 'Today',
  yesterday: 'Yesterday',
  weekdays: ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'],
  months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  safeButtons: ['Later', 'Not Now', 'Remind Me Later', 'Close'],
}
