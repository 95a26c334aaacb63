// The words of Messages for each language of a phone; English is the only one so far. Words that were not yet
// seen on a phone through WebDriverAgent are marked unproven.

export type UiService = 'iMessage' | 'SMS'

export const ENGLISH = {
  // Beginnings of own bubbles, with the service that they went by. ChatKit knows these two: RCS counts as
  // a text message (CKBalloonViewAccessibility). The first was seen on macOS 27.2.
  own: [
    { prefix: 'Your iMessage', service: 'iMessage' },
    { prefix: 'Your text message', service: 'SMS' },
  ] satisfies readonly { readonly prefix: string; readonly service: UiService }[],
  // Unproven: ChatKit's key is `balloon.message`.
  anonymous: 'Message',
  // What a name begins with that Messages suggests for a number, from mail or from what the other side shares.
  suggested: 'Maybe:',
  // Placeholders of the composer, which show the service.
  imessageField: ['iMessage'],
  // `Text Message • RCS` where the carrier has it.
  textField: ['Text Message', 'SMS', 'RCS'],
  delivered: ['Delivered', 'Delivered Quietly'],
  read: ['Read'],
  notDelivered: ['Not Delivered'],
  // Unproven: ChatKit's key is `failure.button.text`.
  failureMark: ['Not Delivered', 'Message not delivered', 'Message Failed', 'Alert'],
  // At the end of a conversation's label.
  unread: ['Unread', 'unread'],
  muted: ['Muted', 'muted'],
  // A bubble that says one of these and nothing else is an attachment. `Includes picture` and `1 image` were seen on macOS 27.2, the others are unproven.
  attachment:
    /^(?:Includes picture|Image attached|Photo|Video|Audio Message|Sticker|Attachment|\d+ (?:images?|photos?|videos?|attachments?))$/i,
  // What Messages adds behind the text of a bubble. Unproven as labels; the words are those of its menus and lists.
  marks:
    /(?:, (?:(?:Loved|Liked|Disliked|Laughed at|Emphasized|Questioned|Reacted [^,]{1,20}) by [^,]{1,80}|Edited))+$/,
  edited: ', Edited',
  // Rows of the details of a chat, and those that only a group has. Unproven.
  details: ['Hide Alerts', 'Leave this Conversation'],
  groupDetails: ['Leave this Conversation', 'Leave Conversation', 'Change Name and Photo'],
  // The title of a group without a name.
  people: /^\d+ People$/i,
  // Unproven: UIKit names the button of a navigation bar after where it leads.
  back: ['Back', 'Messages'],
  recipient: 'To:',
  today: 'Today',
  yesterday: 'Yesterday',
  weekdays: ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'],
  months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  // Buttons of alerts that change nothing.
  safeButtons: ['Later', 'Not Now', 'Remind Me Later', 'Close'],
}
