/** Since the iPhone XS, 8 and 16 digits, which some programs write without the dash; before, 40 digits. */
const NEW_UDID = /^([0-9a-f]{8})-?([0-9a-f]{16})$/i
const OLD_UDID = /^[0-9a-f]{40}$/i

export function isUdid(text: string): boolean {
  return NEW_UDID.test(text) || OLD_UDID.test(text)
}

/** Normalizes a UDID: `00008110-001A2B3C4D5E6F70`, or 40 lowercase digits. */
export function normalUdid(text: string): string {
  const [, head, tail] = NEW_UDID.exec(text) ?? []
  if (head !== undefined && tail !== undefined) return `${head}-${tail}`.toUpperCase()
  return OLD_UDID.test(text) ? text.toLowerCase() : text
}
