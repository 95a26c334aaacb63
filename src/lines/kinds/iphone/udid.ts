/** Apple's names of an iPhone: 40 digits, or since the XS 8 and 16, which some write without the dash. */
const NEW_UDID = /^([0-9a-f]{8})-?([0-9a-f]{16})$/i
const OLD_UDID = /^[0-9a-f]{40}$/i

export function isUdid(text: string): boolean {
  return NEW_UDID.test(text) || OLD_UDID.test(text)
}

/** One writing for every way to write a UDID: `00008110-001A2B3C4D5E6F70`, or 40 small digits. */
export function normalUdid(text: string): string {
  const [, head, tail] = NEW_UDID.exec(text) ?? []
  if (head !== undefined && tail !== undefined) return `${head}-${tail}`.toUpperCase()
  return OLD_UDID.test(text) ? text.toLowerCase() : text
}
