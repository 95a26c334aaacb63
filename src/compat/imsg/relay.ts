import type { Attachment } from '../../api/attachments.ts'
import type { CallArguments } from '../../api/client.ts'
import type { Answer, Call, OperationId } from '../../api/operations.ts'

/** The relay, with the rights of the child's key. Its calls throw what the client of the API throws. */
export type ImsgRelay = {
  ask<Id extends OperationId>(id: Id, ...given: CallArguments<Id>): Promise<Answer<Id>>
  upload(name: string, bytes: ReadableStream<Uint8Array>): Promise<Attachment>
  download<Id extends OperationId>(id: Id, call: Call<Id>): AsyncIterable<Uint8Array>
}

type PageOf<T> = { readonly data: readonly T[]; readonly next_cursor: string | null }

const PAGE_MAX = 200

/** The first `limit` entries of a list of the API, which has at most 200 on a page. */
export async function collected<T>(
  limit: number,
  page: (query: {
    readonly limit: string
    readonly cursor: string | undefined
  }) => Promise<PageOf<T>>,
): Promise<readonly T[]> {
  const found: T[] = []
  let cursor: string | undefined
  do {
    const size = String(Math.min(limit - found.length, PAGE_MAX))
    const { data, next_cursor: next } = await page({ limit: size, cursor })
    found.push(...data)
    cursor = next ?? undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}
