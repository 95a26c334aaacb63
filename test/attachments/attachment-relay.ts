// The real relay with a data directory, and files to give to it.

import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'

import { listen, type Listener } from '../../src/http/listener.ts'
import { silentLog } from '../../src/system/log.ts'
import { startHttp, type More } from '../http/http-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const ATTACHMENTS = '/api/v1/attachments'

export async function startWithFiles(options: Parameters<typeof startHttp>[0] = {}) {
  const folder = new ScratchFolder()
  const relay = await startHttp({ ...options, folder: folder.path })
  const call = async (method: string, path: string, more: More = {}) => {
    const response = await relay.call(method, path, more)
    const body: Json = await response.json()
    return { status: response.status, headers: response.headers, body, error: body.error }
  }
  const listeners: Listener[] = []
  return {
    ...relay,
    folder,
    ask: call,
    upload: (raw: Uint8Array<ArrayBuffer> | string, query = '', headers = {}) =>
      call('POST', `${ATTACHMENTS}${query}`, { raw, headers }),
    content: (id: string, more: More & { query?: string; method?: string } = {}) =>
      relay.call(more.method ?? 'GET', `${ATTACHMENTS}/${id}/content${more.query ?? ''}`, more),
    set: (name: string, value: string) =>
      relay.control('PUT', `/api/v1/settings/${name}`, { body: { value } }),
    /** Puts a file of this length into the store, which counts what it finds at its first use. */
    occupy(bytes: number): void {
      const path = `${folder.path}/attachments/aa`
      mkdirSync(path, { recursive: true })
      writeFileSync(`${path}/${'a'.repeat(64)}`, '')
      truncateSync(`${path}/${'a'.repeat(64)}`, bytes)
    },
    /** The address of a real listener in front of the relay. */
    address: (): string => {
      const listener = listen(relay.http, { host: '127.0.0.1', port: 0, log: silentLog })
      listeners.push(listener)
      return listener.url
    },
    /** Names of the files in the store, half-written ones too. */
    files: (): readonly string[] => filesIn(`${folder.path}/attachments`),
    async [Symbol.asyncDispose]() {
      for (const listener of listeners) await listener.stop(0)
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

function filesIn(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
  } catch {
    return []
  }
}
