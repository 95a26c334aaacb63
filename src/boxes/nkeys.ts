// Keys of the broker's users. Their library is loaded with the link, where there is something to join.

/** Key of a new user. Its seed is stored by its owner only. */
export async function makeKey(): Promise<{ readonly seed: string; readonly publicKey: string }> {
  const { nkeys } = await import('./nats-link.ts')
  const pair = nkeys.createUser()
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() }
}

/** Public nkey `U…` of a seed `SU…`; throws where it is none. */
export async function publicKeyOf(seed: string): Promise<string> {
  const { nkeys } = await import('./nats-link.ts')
  return nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey()
}
