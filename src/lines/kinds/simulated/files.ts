// Files on the simulated network, stored under their SHA-256: files that lines send, and files of simulated people.

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { sha256 } from '../../../system/hash.ts'

export type FileRef = {
  readonly filename: string
  readonly declaredType: string
  readonly size: number
  readonly sha256: string
}

/** One small picture as JPEG and as HEIC, both made for this purpose. */
const JPEG_BASE64 = [
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywt',
  'QFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09P',
  'T09PT09PT09PT09PT09PT09PT0//wAARCAAwAEADASIAAhEBAxEB/8QAGwAAAgMBAQEAAAAAAAAAAAAAAwUCBAYAAQf/',
  'xAAtEAACAgIABAQDCQAAAAAAAAABAgADBBEFITFBEhNRYTJx8BQiQoGRobHB0f/EABgBAAMBAQAAAAAAAAAAAAAAAAEC',
  'AwUE/8QAHBEAAgIDAQEAAAAAAAAAAAAAAAECAxESITET/9oADAMBAAIRAxEAPwC8DJgwIMmDM11m27AwMmDAgyYMR1k3',
  'YGBhqarLm1UhY9/aVQZp8elaKVrQDl1PqfWTlHBKduPBNZTbTrzUK779RIgx86LYhRwCp6iIHHl2um9+FiNxNMk/q36J',
  'gZIGBBkMrKXFx2tcb1yC71szY+YsrcFnz6luWkuosYEhd8yIYGYmzJtsy/tJIFniDAgdNdJqOGZwzcfxkBbFOnUH9/lD',
  'OjVZIK/ZjEGPcDiVb1rXe4SxeWyeTe+5nwZT4jxajhwQWbd2I0i9ddz9dZzyo34B2GxyeIU1IfLdbHPQA7H5mJvESSSS',
  'SeZJlXHvryKVtpcOjjYIhwZNU6iO0SvalVZexgqrzJMzudltl3l+YQckU9hDcSzTc5prYeUOpH4jKE2NUiUptnQ2Jkvi',
  '5C3Vk8jzAPxDuIGDezsv6wsQ0Wdx+pMbWGS1zDuvwf6fr55pmZ2LMSzE7JJ2SZ5OiKKXgRjwjitnDbtHb0Ofvp/Y9/5m',
  '3R1dQyMGVhsEHYInzeN+CcZbBcUXktjMfmaz6j29vopOtPos08cP/9k=',
].join('')

const HEIC_BASE64 = [
  'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAX1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAA',
  'AAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAABoQABAAAAAAAAARYAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABo',
  'dmMxAAAAAA5waXRtAAAAAAABAAAA/WlwcnAAAADdaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEA',
  'GEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAA',
  'AwAhYgABAAZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAAB',
  'AAAAMAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBpeGkAAAAAAwgICAAAABhpcG1hAAAAAAAAAAEAAQWBAgMFhAAAAR5t',
  'ZGF0AAABEigBr1igLeHmy62ZvUz+i7i8bKioTItE3UKU124HLAlaYpggAKZ+YVcRIY0wM6poCD2rC1s8yaFgXOz9p6j4',
  'bdF+wnOskyqT4116wYGfP/P4TuC5nrLw2auwP///LXKH4OOv3a2USARXsqH9/Zzq2PnfTVPp5azK5aKzxmlMWJne8Ymi',
  'KZHxk/Iwux4z78cxa4Qc92FMb26kjGrSXuLo1VX7X01u+OML4FyIQw4e5kisYYJWDXe01dPVOCtNP+/3l71HAe2BsETq',
  'PBh+jHHuv6NRfwCWkiMN8LLgWJKsthnIeTsEizEAcJ+B6/2erd506dmURIgXeQkDJ1ijaJK7qKBnVR5ROLb6Q74mECCE',
  'd7p5CS4=',
].join('')

const PDF_TEXT = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R
   /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>
endobj
4 0 obj
<< /Length 48 >>
stream
BT /F1 18 Tf 20 45 Td (Soup of the day: 5) Tj ET
endstream
endobj
trailer
<< /Root 1 0 R /Size 5 >>
%%EOF
`

export const SAMPLES = {
  jpeg: { filename: 'IMG_0001.JPG', declaredType: 'image/jpeg', encoded: JPEG_BASE64 },
  heic: { filename: 'IMG_0001.HEIC', declaredType: 'image/heic', encoded: HEIC_BASE64 },
  pdf: { filename: 'Menu.pdf', declaredType: 'application/pdf', encoded: btoa(PDF_TEXT) },
} as const
export type Sample = keyof typeof SAMPLES

const LARGE_BYTES = 64 * 1_024 * 1_024

export class SimulatedFiles {
  readonly #folder: string

  /** The first file that is stored creates the folder. */
  constructor(folder: string) {
    this.#folder = folder
  }

  pathOf(hash: string): string {
    return join(this.#folder, hash)
  }

  has(hash: string): boolean {
    return existsSync(this.pathOf(hash))
  }

  write(bytes: Uint8Array): Pick<FileRef, 'size' | 'sha256'> {
    const hash = sha256(bytes).toHex()
    this.#place(hash, (temporary) => writeFileSync(temporary, bytes))
    return { size: bytes.length, sha256: hash }
  }

  /** Keeps the file of a sent message: as a hard link if the file system has links. */
  keep(path: string, hash: string): void {
    this.#place(hash, (temporary) => {
      try {
        linkSync(path, temporary)
      } catch {
        copyFileSync(path, temporary)
      }
    })
  }

  sample(kind: Sample): FileRef {
    const { filename, declaredType, encoded } = SAMPLES[kind]
    return { filename, declaredType, ...this.write(Uint8Array.fromBase64(encoded)) }
  }

  /** A file of 64 MiB that does not compress. */
  large(): FileRef {
    const bytes = new Uint32Array(LARGE_BYTES / 4)
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = Math.imul(i ^ (i >>> 7), 0x9e3779b1)
    const written = this.write(new Uint8Array(bytes.buffer))
    return { filename: 'Video.bin', declaredType: 'application/octet-stream', ...written }
  }

  prune(before: number): void {
    if (!existsSync(this.#folder)) return
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name)
      if (statSync(path).ctimeMs < before) rmSync(path, { force: true })
    }
  }

  /** Writes a temporary file first: a kill in between leaves no file under a wrong hash. */
  #place(hash: string, write: (temporary: string) => void): void {
    if (this.has(hash)) return
    mkdirSync(this.#folder, { mode: 0o700, recursive: true })
    const temporary = this.pathOf(`${hash}.new`)
    rmSync(temporary, { force: true })
    write(temporary)
    renameSync(temporary, this.pathOf(hash))
  }
}
