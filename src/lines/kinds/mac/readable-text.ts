import { withoutMarks } from './attributed-body.ts'
import type { MessageRow } from './chat-db-rows.ts'

/** What the system calls inline emoji, by their transfer guids. */
export type EmojiWords = (guids: readonly string[]) => ReadonlyMap<string, string>

const MARK = '\uFFFC'
/** What an app writes in the place of its balloon (imessage-database). */
const APP_MARK = '\uFFFD'
/** The one balloon whose text somebody typed: a link and what stands around it. */
const LINK_BALLOON = /(?:^|[.:])URLBalloonProvider$/

/**
 * What somebody wrote: the subject in a line of its own, then the text. Messages shows what stands before
 * and behind a picture as bubbles of their own (imessage-database parts them too): here they are lines.
 */
export function readableText(row: MessageRow, emojiWords: EmojiWords): string {
  const body = bodyText(row, emojiWords)
  return [row.subject ?? '', body].filter((part) => part !== '').join('\n')
}

/** The text without its subject: empty where there is nothing but pictures and apps. */
export function bodyText(row: MessageRow, emojiWords: EmojiWords): string {
  const text = withEmojiWords(withoutAppMarks(row), row, emojiWords)
  if (!text.includes(MARK)) return text
  const bubbles = text.split(MARK).filter((bubble) => bubble.trim() !== '')
  return bubbles
    .map((bubble, index) => {
      const end = index === bubbles.length - 1 ? bubble : bubble.trimEnd()
      return index === 0 ? end : end.trimStart()
    })
    .join('\n')
}

/** U+FFFD stands for the app in its own balloon; anywhere else somebody typed it. */
function withoutAppMarks({ text, balloon }: MessageRow): string {
  if (text === null || balloon === null || LINK_BALLOON.test(balloon)) return text ?? ''
  return text.replaceAll(APP_MARK, MARK)
}

/** A picture in the midst of a line is no bubble: its words take its place, or nothing does. */
function withEmojiWords(text: string, { inlineEmoji }: MessageRow, emojiWords: EmojiWords): string {
  if (inlineEmoji.length === 0) return text
  const words = emojiWords(inlineEmoji.map(({ guid }) => guid))
  return inlineEmoji.toReversed().reduce((rest, { at, guid }) => {
    const name = words.get(guid)
    const shown = name === undefined ? '' : `(${withoutMarks(name)})`
    return rest.slice(0, at) + shown + rest.slice(at + 1)
  }, text)
}
