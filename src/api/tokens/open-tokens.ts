import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { AuthDeps } from './auth.ts'
import { type KeySet, type KeySetSource, openKeySet } from './key-set.ts'
import { openRevocations, type Revocations } from './revocations.ts'
import { type KeyError, type KeySource, openSigningKey } from './signing-key.ts'
import type { TokenRules } from './token.ts'
import type { TokenFileUnusable } from './watched-file.ts'

/** Opens everything that token verification needs, from the settings of the operator. */

export interface TokenSettings {
  /** The key that signs and verifies tokens: a shared secret for HS256 if one is set, or else a key file. */
  readonly signing: KeySource
  /** The keys of an external issuer. */
  readonly keySet: KeySetSource | undefined
  readonly tokenRules: TokenRules
  /** Path of the file that lists revoked tokens. */
  readonly revocationsFile: string | undefined
}

export interface OpenTokens {
  readonly auth: AuthDeps
  close(): void
}

/** Opens the token verification. The key file is opened last, because this may create it: a refused start writes no file. */
export async function openTokens(
  settings: TokenSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Result<OpenTokens, KeyError | TokenFileUnusable>> {
  const { revocationsFile, tokenRules: rules } = settings
  const opened: { close(): void }[] = []
  const close = () => {
    for (const one of opened) one.close()
  }
  const refused = <E>(refusal: E): E => {
    close()
    return refusal
  }
  let revocations: Revocations | undefined
  if (revocationsFile !== undefined) {
    const found = await openRevocations(revocationsFile, log)
    if (!found.ok) return found
    revocations = found.value
    opened.push(revocations)
  }
  let keySet: KeySet | undefined
  if (settings.keySet !== undefined) {
    const found = await openKeySet(settings.keySet, log)
    if (!found.ok) return refused(found)
    keySet = found.value
    opened.push(keySet)
  }
  const key = await openSigningKey(settings.signing)
  if (!key.ok) return refused(key)
  return ok({ auth: { key: key.value, keySet, rules, revocations, clock }, close })
}
