// A message's row has the numbers of its line and its conversation, so that its indexes are small; the
// rest of the program knows both by their ids. These parts of queries lead from one to the other.

/** The ids, in a query of `messages`. */
export const LINE_ID = '(SELECT l.id FROM lines l WHERE l.seq = line_seq)'
export const CONVERSATION_ID = '(SELECT c.id FROM conversations c WHERE c.seq = conversation_seq)'

/** The numbers of `$lineId` and `$conversationId`; NULL, which equals nothing, where there is none. */
export const LINE_SEQ = '(SELECT l.seq FROM lines l WHERE l.id = $lineId)'
export const CONVERSATION_SEQ = '(SELECT c.seq FROM conversations c WHERE c.id = $conversationId)'
