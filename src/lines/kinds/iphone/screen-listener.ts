import type { LineEvent } from '../../driver.ts'
import type { TranscriptMemory } from './screens/transcript-memory.ts'
import type { UiListener } from './screens/ui-listener.ts'

/** What is read off the screen, as events of the line: the checkpoint is what the memory holds then. */
export function screenListener(
  memory: TranscriptMemory,
  tell: (event: LineEvent) => Promise<void>,
): UiListener {
  const checkpoint = () => memory.toText()
  return {
    onMessage: ({ guid, handle, text, isFromMe, service, at }) => {
      const message = { guid, handle, text, isFromMe, service, at, isHistory: false }
      return tell({ type: 'message', message, checkpoint: checkpoint() })
    },
    onReceipt: ({ guid, kind, at, reason }) => {
      const receipt = { guid, kind, at, reason }
      return tell({ type: 'receipt', receipt, checkpoint: checkpoint() })
    },
    async onSettled(messageId, outcome) {
      // First that its bubble is known: after a crash in between the message is found by that.
      await tell({ type: 'checkpoint', checkpoint: checkpoint() })
      await tell({ type: 'settled', messageId, outcome })
    },
    onMemory: () => tell({ type: 'checkpoint', checkpoint: checkpoint() }),
  }
}
