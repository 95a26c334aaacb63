// The words of Messages in each language of a phone, so far only in English. Words marked "unproven" were not yet
// seen on a phone through WebDriverAgent.

export type UiService = 'iMessage' | 'SMS'

export const ENGLISH = {
  // Prefixes of our own bubbles' labels, with their service. ChatKit has these two: RCS counts as a text message
  // (CKBalloonViewAccessibility). The first was seen on macOS 27.2.
  own: [
    { prefix: 'Your iMessage', service: 'iMessage' },
    { prefix: 'Your text message', service: 'SMS' },
  ] satisfies readonly { readonly prefix: string; readonly service: UiService }[],
  // Unproven: ChatKit's key is `balloon.message`.
  anonymous: 'Message',
  // Prefix of a name that Messages suggests for a number, from mail or from what the other side shares.
  suggested: 'Maybe:',
  // Placeholders of the composer, which show the service.
  imessageField: ['iMessage'],
  // `Text Message • RCS` if the carrier supports RCS.
  textField: ['Text Message', 'SMS', 'RCS'],
  delivered: ['Delivered', 'Delivered Quietly'],
  read: ['Read'],
  notDelivered: ['Not Delivered'],
  // Unproven: ChatKit's key is `failure.button.text`.
  failureMark: ['Not Delivered', 'Message not delivered', 'Message Failed', 'Alert'],
  // Words at the end of a conversation's label.
  unread: ['Unread', 'unread'],
  muted: ['Muted', 'muted'],
  // A bubble with exactly one of these texts is an attachment. `Includes picture` and `1 image` were seen on macOS
  // 27.2, the others are unproven.
  attachment:
    /^(?:Includes picture|Image attached|Photo|Video|Audio Message|Sticker|Attachment|\d+ (?:images?|photos?|videos?|attachments?))$/i,
  // Words that Messages appends to the text of a bubble. Unproven as labels; its menus and lists have these words.
  marks:
    /(?:, (?:(?:Loved|Liked|Disliked|Laughed at|Emphasized|Questioned|Reacted [^,]{1,20}) by [^,]{1,80}|Edited))+$/,
  edited: ', Edited',
  // Rows on the details page of any chat, and of a group only. Unproven.
  details: ['Hide Alerts', 'Leave this Conversation'],
  groupDetails: ['Leave this Conversation', 'Leave Conversation', 'Change Name and Photo'],
  // The title of a group without a name.
  people: /^\d+ People$/i,
  // Unproven: UIKit names the back button after the screen it leads to.
  back: ['Back', 'Messages'],
  recipient: 'To:',
  today: 'Today',
  yesterday: 'Yesterday',
  weekdays: ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'],
  months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  // Buttons that close an alert and change nothing.
  safeButtons: ['Later', 'Not Now', 'Remind Me Later', 'Close'],
}
