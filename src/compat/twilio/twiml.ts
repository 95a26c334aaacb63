// Replies in TwiML, Twilio's XML: `<Response><Message>Hello</Message></Response>`.

import type { CompatReply } from '../compat-api.ts'

/** The number of messages that a line may send to a person within a minute. */
const REPLIES_MAX = 30

type Xml = {
  readonly nodeName: string
  readonly textContent: string | null
  readonly childNodes: Iterable<Xml>
  getAttribute?(name: string): string | null
}

/** The messages in a response; none if it isn't TwiML. */
export async function repliesIn(answer: string): Promise<readonly CompatReply[]> {
  const { DOMParser, onErrorStopParsing } = await import('@xmldom/xmldom')
  try {
    const parser = new DOMParser({ onError: onErrorStopParsing })
    const { documentElement: root } = parser.parseFromString(answer.trim(), 'text/xml')
    if (root?.nodeName !== 'Response') return []
    const messages = childrenOf(root, ['Message', 'Sms'])
    return messages.slice(0, REPLIES_MAX).map(replyOf)
  } catch {
    return []
  }
}

function replyOf(message: Xml): CompatReply {
  const bodies = childrenOf(message, ['Body', '#text', '#cdata-section'])
  const media = childrenOf(message, ['Media'])
  const to = message.getAttribute?.('to') ?? ''
  return {
    text: bodies
      .map(({ textContent }) => textContent ?? '')
      .join('')
      .trim(),
    mediaUrls: media.map(({ textContent }) => (textContent ?? '').trim()),
    to: to === '' ? null : to,
  }
}

function childrenOf(parent: Xml, names: readonly string[]): readonly Xml[] {
  return [...parent.childNodes].filter(({ nodeName }) => names.includes(nodeName))
}
