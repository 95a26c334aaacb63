import { ChatDb } from '../../../src/lines/kinds/mac/chat-db.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { ChatDbFile } from './chat-db-file.ts'
import { VARIANTS, type Variant } from './chat-db-mutations.ts'

/** A file that the test writes, as Messages does, and the reader of it. */
export class OpenedChatDb implements Disposable {
  readonly file: ChatDbFile
  readonly chatDb: ChatDb
  readonly #folder = new ScratchFolder()

  constructor(variant: Variant | string = 'macos26a') {
    const found = typeof variant === 'string' ? variantOf(variant) : variant
    this.file = ChatDbFile.create(this.#folder.file('chat.db'), found.schema, found.options)
    this.chatDb = ChatDb.open(this.file.path)
  }

  [Symbol.dispose](): void {
    this.chatDb.close()
    this.file.close()
    this.#folder[Symbol.dispose]()
  }
}

function variantOf(name: string): Variant {
  const found = VARIANTS.find((variant) => variant.name === name)
  if (found === undefined) throw new Error(`No variant: ${name}`)
  return found
}
