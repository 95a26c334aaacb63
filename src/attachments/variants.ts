// Variants of files: formats that everyone can open, and thumbnails. Made at the first request and kept next to the
// file. A stranger chose the bytes, so a tool of this machine reads them in a child process with limited time, memory
// and output, one child at a time.

import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'

import type { Variant } from '../api/attachments.ts'
import { RelayError } from '../domain/errors.ts'
import type { Clock } from '../system/clock.ts'
import { findTool, processRunner, type RunProcess } from '../system/process.ts'
import type { AttachmentStore } from './store.ts'

export type FindTool = (name: string) => string | null

export type Form = {
  readonly path: string
  readonly size: number
  readonly mimeType: string
  /** The new extension of the file name; null if it stays. */
  readonly extension: string | null
}

type Original = { readonly sha256: string; readonly mimeType: string; readonly size: number }
type Made = Exclude<Variant, 'original'>

type Recipe = {
  readonly tool: 'sips' | 'afconvert' | 'ffmpeg'
  readonly mimeType: string
  readonly extension: string
  readonly args: (input: string, output: string) => readonly string[]
}

const CHILD_MS_MAX = 20_000
const OUTPUT_BYTES_MAX = { thumbnail: 1_024 ** 2, compatible: 256 * 1_024 ** 2 }
const PIXELS_MAX = 100_000_000
const WAITING_MAX = 20
const FAILED_MAX = 1_000
const FAILED_MS = 600_000

export class Variants {
  readonly #clock: Clock
  readonly #store: AttachmentStore
  readonly #findTool: FindTool
  readonly #run: RunProcess
  readonly #paths = new Map<string, string | null>()
  readonly #making = new Map<string, Promise<void>>()
  /** Failure times by name, so that unreadable bytes don't start a child again and again. */
  readonly #failedAt = new Map<string, number>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock, store: AttachmentStore, find: FindTool = findTool) {
    this.#clock = clock
    this.#store = store
    this.#findTool = find
    this.#run = processRunner(clock)
  }

  /** The variants that this machine can make of this type. */
  of(mimeType: string): readonly Variant[] {
    const made = (['compatible', 'thumbnail'] as const).filter(
      (variant) => this.#recipe(variant, mimeType) !== null,
    )
    return ['original', ...made]
  }

  /** The file as a variant; throws `variant_unavailable` if it can't be made. */
  async form(original: Original, variant: Made): Promise<Form> {
    const { sha256, mimeType, size } = original
    const recipe = this.#recipe(variant, mimeType)
    if (recipe === null && variant === 'compatible' && !NEEDS_CONVERSION.test(mimeType)) {
      return { path: this.#store.pathOf(sha256), size, mimeType, extension: null }
    }
    if (recipe === null) throw unavailable(`This machine has no tool for a ${variant} of it.`)
    const path = this.#store.pathOf(sha256, variant)
    if (sizeOf(path) === null) await this.#makeOnce(original, { variant, recipe })
    const made = sizeOf(path)
    if (made === null) throw unavailable('The variant was deleted just now: try again.')
    return { path, size: made, mimeType: recipe.mimeType, extension: recipe.extension }
  }

  #recipe(variant: Made, mimeType: string): Recipe | null {
    return recipesFor(variant, mimeType).find(({ tool }) => this.#pathOf(tool) !== null) ?? null
  }

  #pathOf(tool: string): string | null {
    const known = this.#paths.get(tool)
    if (known !== undefined) return known
    const path = this.#findTool(tool)
    this.#paths.set(tool, path)
    return path
  }

  /** Requests for the same variant share a child; children run one at a time. */
  #makeOnce(original: Original, order: { variant: Made; recipe: Recipe }): Promise<void> {
    const name = `${original.sha256}.${order.variant}`
    const under = this.#making.get(name)
    if (under !== undefined) return under
    this.#requireWorthTrying(name)
    const making = this.#last
      .then(() => this.#make(original, order))
      .finally(() => this.#making.delete(name))
    this.#making.set(name, making)
    this.#last = making.catch(() => {})
    return making
  }

  #requireWorthTrying(name: string): void {
    const failedAt = this.#failedAt.get(name)
    const now = this.#clock.monotonic()
    if (failedAt !== undefined && now - failedAt < FAILED_MS) throw unreadable()
    if (this.#making.size < WAITING_MAX) return
    throw new RelayError('variant_unavailable', 'Too many variants are being made: try again.', {
      retryAfterSeconds: CHILD_MS_MAX / 1_000,
    })
  }

  async #make(original: Original, order: { variant: Made; recipe: Recipe }): Promise<void> {
    const store = this.#store
    const { variant, recipe } = order
    const output = `${await store.newPath()}.${recipe.extension}`
    try {
      const args = recipe.args(store.pathOf(original.sha256), output)
      const isDone = await this.#runTool(recipe.tool, args, OUTPUT_BYTES_MAX[variant])
      const size = sizeOf(output) ?? 0
      if (isDone && size > 0 && size <= OUTPUT_BYTES_MAX[variant]) {
        await store.keepVariant(output, original.sha256, variant)
        return
      }
    } finally {
      await rm(output, { force: true })
    }
    const [oldest = ''] = this.#failedAt.keys()
    if (this.#failedAt.size >= FAILED_MAX) this.#failedAt.delete(oldest)
    this.#failedAt.set(`${original.sha256}.${variant}`, this.#clock.monotonic())
    throw unreadable()
  }

  async #runTool(tool: string, args: readonly string[], bytesMax: number): Promise<boolean> {
    const path = this.#pathOf(tool) ?? ''
    // `-t`: CPU seconds. `-f`: file size in blocks of 512 bytes (POSIX). `-v`: memory in KB; macOS has no such limit
    // and prints an error.
    const limits = ['-t 30', `-f ${bytesMax / 512}`, '-v 1572864']
    const script = limits.map((limit) => `ulimit ${limit} 2>/dev/null; `).join('')
    const ended = await this.#run(
      {
        path: '/bin/sh',
        args: ['-c', `${script}exec nice -n 10 "$@"`, 'sh', path, ...args],
        timeoutMs: CHILD_MS_MAX,
        killAfterMs: CHILD_MS_MAX + 2_000,
        outputBytesMax: 1_024,
      },
      new AbortController().signal,
    )
    return ended.end === 'exited' && ended.exitCode === 0
  }
}

/** Types that many programs outside of Apple's can't open. */
const NEEDS_CONVERSION =
  /^(?:image\/hei[cf](?:-sequence)?|image\/avif|audio\/x-caf|video\/quicktime)$/
const PICTURE = /^image\/(?:jpeg|png|apng|gif|webp|tiff|bmp|hei[cf](?:-sequence)?|avif)$/
const FILM = /^video\/(?:mp4|quicktime|x-m4v|webm|3gpp|3gpp2|matroska)$/

const JPEG = { mimeType: 'image/jpeg', extension: 'jpg' }
const M4A = { mimeType: 'audio/mp4', extension: 'm4a' }
const MP4 = { mimeType: 'video/mp4', extension: 'mp4' }

/** Recipes for a variant, the best first. */
function recipesFor(variant: Made, mimeType: string): readonly Recipe[] {
  const isPicture = PICTURE.test(mimeType)
  const demuxer = DEMUXERS[mimeType]
  const ffmpeg = (kind: typeof JPEG, args: readonly string[]): readonly Recipe[] =>
    demuxer === undefined ? [] : [{ ...kind, tool: 'ffmpeg', args: ffmpegArgs(demuxer, args) }]
  if (variant === 'thumbnail') {
    const sips = isPicture ? [sipsRecipe('60', ['-Z', String(THUMBNAIL_PIXELS)])] : []
    return isPicture || FILM.test(mimeType) ? [...sips, ...ffmpeg(JPEG, SMALL_PICTURE)] : []
  }
  if (!NEEDS_CONVERSION.test(mimeType)) return []
  if (isPicture) return [sipsRecipe('85', []), ...ffmpeg(JPEG, WHOLE_PICTURE)]
  if (mimeType === 'video/quicktime') return ffmpeg(MP4, SAME_FILM)
  const args = (input: string, output: string) => ['-f', 'm4af', '-d', 'aac', input, output]
  return [{ ...M4A, tool: 'afconvert', args }, ...ffmpeg(M4A, ['-vn', '-c:a', 'aac', '-f', 'ipod'])]
}

function sipsRecipe(quality: string, more: readonly string[]): Recipe {
  const format = ['-s', 'format', 'jpeg', '-s', 'formatOptions', quality, ...more]
  return { ...JPEG, tool: 'sips', args: (input, output) => [...format, input, '--out', output] }
}

const THUMBNAIL_PIXELS = 512
const WHOLE_PICTURE = ['-frames:v', '1', '-q:v', '3', '-f', 'mjpeg']
const SCALED = `scale='min(${THUMBNAIL_PIXELS},iw)':'min(${THUMBNAIL_PIXELS},ih)':force_original_aspect_ratio=decrease`
const SMALL_PICTURE = ['-vf', SCALED, '-frames:v', '1', '-q:v', '5', '-f', 'mjpeg']
const SAME_FILM = ['-c:v', 'copy', '-c:a', 'aac', '-movflags', '+faststart', '-f', 'mp4']

/** One fixed demuxer per type: a disguised playlist would make ffmpeg read files and URLs. */
const DEMUXERS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpeg_pipe',
  'image/png': 'png_pipe',
  'image/apng': 'apng',
  'image/gif': 'gif',
  'image/webp': 'webp_pipe',
  'image/tiff': 'tiff_pipe',
  'image/bmp': 'bmp_pipe',
  'image/heic': 'mov',
  'image/heif': 'mov',
  'image/avif': 'mov',
  'video/mp4': 'mov',
  'video/quicktime': 'mov',
  'video/x-m4v': 'mov',
  'video/3gpp': 'mov',
  'video/3gpp2': 'mov',
  'video/webm': 'matroska',
  'video/matroska': 'matroska',
  'audio/x-caf': 'caf',
}

function ffmpegArgs(demuxer: string, args: readonly string[]): Recipe['args'] {
  const reading = `-nostdin -v error -threads 2 -max_pixels ${PIXELS_MAX} -protocol_whitelist file -f ${demuxer} -i`
  const before = reading.split(' ')
  const after = ['-map_metadata', '-1', ...args]
  return (input, output) => [...before, `file:${input}`, ...after, `file:${output}`]
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}

function unreadable(): RelayError {
  return unavailable('The tool of this machine could not read the file.')
}

function unavailable(why: string): RelayError {
  return new RelayError('variant_unavailable', why)
}
