/** Where a setup link leads. The token stands behind the #, which no browser sends and no proxy logs. */
export function setupAddresses(
  token: string,
  where: {
    /** What others reach the relay by, where it is set. */
    readonly publicUrl: string | null
    /** Where the relay listens. */
    readonly listeningUrl: string
    /** The name of this machine in its network, as `<hostname>.local`. */
    readonly localName: string
  },
): { readonly url: string; readonly lanUrl: string | null } {
  const { publicUrl, listeningUrl, localName } = where
  const end = `/#/setup/${token}`
  if (publicUrl !== null) return { url: publicUrl + end, lanUrl: null }
  const { hostname, port } = new URL(listeningUrl)
  // To listen on all addresses is no address that one could go to.
  if (hostname !== '0.0.0.0' && hostname !== '[::]')
    return { url: listeningUrl + end, lanUrl: null }
  const at = port === '' ? '' : `:${port}`
  return { url: `http://127.0.0.1${at}${end}`, lanUrl: `http://${localName}${at}${end}` }
}
