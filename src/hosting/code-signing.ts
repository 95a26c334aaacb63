import type { RunProcess } from '../system/process.ts'
import { SECURITY, useSecurity } from './keychain-tool.ts'
import { BUNDLE_ID } from './property-lists.ts'
import { WITHOUT_CERTIFICATE, type LocalIdentity } from './signing-identity.ts'
import { HostingError, tryTool, useTool } from './system-tool.ts'

/** Who signs: an identity in the owner's keychains, such as a Developer ID, or this Mac's own. */
export type Signer =
  | { readonly kind: 'given'; readonly name: string }
  | { readonly kind: 'local'; readonly identity: LocalIdentity }

export type SigningOrder = {
  readonly bundle: string
  /** The path of the property list with the entitlements. */
  readonly entitlements: string
  readonly signer: Signer
}

const CODESIGN = '/usr/bin/codesign'
/** Hashing a hundred megabytes takes seconds; a dialog that nobody sees would take for ever. */
const CODESIGN_MS_MAX = 120_000

/** Signs a bundle with the hardened runtime, and makes sure of the signature. */
export async function signBundle(
  run: RunProcess,
  order: SigningOrder,
  signal: AbortSignal,
): Promise<void> {
  const { bundle, entitlements, signer } = order
  const codesign = (purpose: string, args: readonly string[]) =>
    useTool(run, { path: CODESIGN, args, timeoutMs: CODESIGN_MS_MAX, purpose }, signal)
  // By its hash where it is ours: a name can stand for several certificates, and codesign does not choose.
  const name = signer.kind === 'given' ? signer.name : signer.identity.hash
  const how = ['--options', 'runtime', '--entitlements', entitlements]
  const what = ['--identifier', BUNDLE_ID, '--timestamp=none', '--sign', name, bundle]
  const sign = () => codesign('sign the bundle', ['--force', ...how, ...what])
  if (signer.kind === 'given') await sign()
  else await withKeychain(run, signer.identity, signal, sign)
  const verify = ['--verify', '--strict', ...requirementOf(signer), bundle]
  await codesign('make sure of the signature', verify)
}

/** That it is this certificate and no other, as macOS will ask before it lets a new version in. */
function requirementOf(signer: Signer): readonly string[] {
  if (signer.kind === 'given') return []
  return [`-R=identifier "${BUNDLE_ID}" and certificate leaf = H"${signer.identity.hash}"`]
}

/**
 * Does `work` with the keychain unlocked and on the user's search list: codesign finds no identity
 * elsewhere, `--keychain` or not (seen by several projects on macOS 14 to 26). Afterwards the list is as
 * it was: a locked keychain on it makes other programs ask the owner for a password that nobody knows.
 */
async function withKeychain(
  run: RunProcess,
  { keychain, password }: LocalIdentity,
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<void> {
  const purpose = `use the keychain for signing ${WITHOUT_CERTIFICATE}`
  const security = (args: readonly string[]) =>
    useTool(run, { path: SECURITY, args, purpose }, signal)
  const words = ['unlock-keychain', '-p', password, keychain]
  await useSecurity(run, { words, purpose }, signal)
  const list = keychainsIn(await security(['list-keychains', '-d', 'user']))
  const others = list.filter((path) => path !== keychain)
  // Setting the list replaces it: an answer that was not understood must not cost the owner his own.
  if (others.length === 0) throw new HostingError('Cannot read the list of keychains of this user.')
  const setList = ['list-keychains', '-d', 'user', '-s', ...others]
  try {
    await security([...setList, keychain])
    await work()
  } finally {
    // Even after an abort.
    const always = new AbortController().signal
    await tryTool(run, { path: SECURITY, args: setList }, always)
    await tryTool(run, { path: SECURITY, args: ['lock-keychain', keychain] }, always)
  }
}

/** One path a line, in quotes. */
function keychainsIn(list: string): readonly string[] {
  return [...list.matchAll(/^\s*"(.+)"\s*$/gm)].map((match) => match[1] ?? '')
}
