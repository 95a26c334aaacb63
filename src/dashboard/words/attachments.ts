// Words and icons for files.

import type { Attachment, MessageAttachment } from '../../api/attachments.ts'
import type { Message } from '../../api/messages.ts'
import type { IconName, StateWords } from '../components/drawings.ts'
import { grouped } from './common.ts'

type Kind = 'picture' | 'video' | 'audio' | 'document' | 'file'

/** The icon of each kind has the same name. */
export const fileIcon: (file: Pick<MessageAttachment, 'mime_type'>) => IconName = kindOf

function kindOf({ mime_type }: Pick<MessageAttachment, 'mime_type'>): Kind {
  const [family] = mime_type.split('/')
  if (family === 'image') return 'picture'
  if (family === 'video' || family === 'audio') return family
  return family === 'text' || mime_type === 'application/pdf' ? 'document' : 'file'
}

/** The reason why a file can't be opened; null if it is available. */
export function absenceWords({ state }: Pick<MessageAttachment, 'state'>): StateWords | null {
  return STATES[state]
}

const STATES: Readonly<Record<MessageAttachment['state'], StateWords | null>> = {
  available: null,
  pending: { text: 'Not yet on the device', tone: 'wait', icon: 'clock' },
  failed: { text: "The device couldn't get it", tone: 'bad', icon: 'warning' },
  missing: { text: 'No longer on the device', tone: 'warn', icon: 'warning' },
  not_kept: { text: 'Not kept: storage quota reached', tone: 'warn', icon: 'warning' },
  deleted: { text: 'Deleted', tone: 'plain', icon: 'trash' },
}

/** The state of a part if it differs from its message's. */
export function partWords({ sent }: MessageAttachment, { status }: Message): StateWords | null {
  if (sent === false) return { text: 'Not sent', tone: 'bad', icon: 'cross' }
  if (sent === true && (status === 'failed' || status === 'uncertain'))
    return { text: 'Sent', tone: 'plain', icon: 'check' }
  if (sent !== null || status !== 'uncertain') return null
  return { text: 'Unconfirmed', tone: 'warn', icon: 'question' }
}

/** Raster types that every browser shows. SVG isn't one: it is a document that may have scripts. */
const SHOWN = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

type Variant = Attachment['variants'][number]

/** Returns whether the relay may have a thumbnail of the file. */
export function mayHavePicture(file: MessageAttachment): boolean {
  return file.state === 'available' && ['picture', 'video'].includes(kindOf(file))
}

export function isPicture(mimeType: string): boolean {
  return SHOWN.has(mimeType)
}

/** The variant to open large; null if browsers can't show the file as a picture. */
export function largeVariant(file: Attachment): Variant | null {
  if (kindOf(file) !== 'picture' || file.state !== 'available') return null
  if (isPicture(file.mime_type) && isLight(file)) return 'original'
  if (!isPicture(file.mime_type) && file.variants.includes('compatible')) return 'compatible'
  return hasThumbnail(file) ? 'thumbnail' : null
}

/** A picture with more pixels could fill the page's memory, even if it has few bytes. */
function isLight({ width, height, size }: Attachment): boolean {
  const pixels = (width ?? 0) * (height ?? 0)
  return pixels > 0 && pixels <= 50_000_000 && (size ?? Infinity) <= 30_000_000
}

/** The variant to show in a conversation; null if there is none. */
export function smallVariant(file: Attachment): Variant | null {
  if (hasThumbnail(file)) return 'thumbnail'
  const isSmall = file.size !== null && file.size <= 8_000_000
  return isSmall && largeVariant(file) === 'original' ? 'original' : null
}

function hasThumbnail({ state, variants }: Attachment): boolean {
  return state === 'available' && variants.includes('thumbnail')
}

/** "Picture", "3 files": for a message without text. */
export function filesWords(files: readonly MessageAttachment[]): string {
  const kinds = new Set(files.map(kindOf))
  const [kind = 'file'] = kinds.size === 1 ? kinds : []
  const [first] = files
  if (files.length === 1) return kind === 'file' ? (first?.filename ?? '') : NOUNS[kind][0]
  return `${grouped(files.length)} ${NOUNS[kind][1]}`
}

const NOUNS: Readonly<Record<Kind, readonly [one: string, several: string]>> = {
  picture: ['Picture', 'pictures'],
  video: ['Video', 'videos'],
  audio: ['Audio', 'audio files'],
  document: ['Document', 'documents'],
  file: ['File', 'files'],
}

/** A message in a list row. */
export function messageExcerpt(message: Message): string {
  if (message.unsent_at !== undefined) return 'Message unsent'
  if (message.text !== '') return message.text
  return message.attachments === undefined ? '' : filesWords(message.attachments)
}

/** Unicode marks that change text direction: `photo[mark]gpj.exe` would look like a picture. */
const TURNING = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** A file name without marks that reorder its characters. */
export function plainName(name: string): string {
  return name.replaceAll(TURNING, '')
}
