import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { err, ok, type Result } from '../../lib/result.ts'
import type { Secret } from '../../lib/secret.ts'
import { messageIn } from '../../lib/thrown.ts'

/** The key that signs and verifies tokens. It has one algorithm, and no other algorithm is accepted. */
export interface SigningKey {
  readonly algorithm: 'EdDSA' | 'ES256' | 'HS256'
  readonly sign: KeyObject
  readonly verify: KeyObject
}

/** The algorithms that are accepted in a key set. Shared secrets are excluded, because a key set is public. */
export const keySetAlgorithms = ['EdDSA', 'ES256'] as const

/** The source of the key: a file (EdDSA, or ES256 for a P-256 key), or a shared secret (HS256). */
export type KeySource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'secret'; readonly secret: Secret }

/** The failure to open the key file. */
export interface KeyError {
  readonly code: 'KEY_FILE_UNUSABLE'
  readonly path: string
  readonly reason: string
}

/** Opens the key. A missing key file is created: an Ed25519 key as PKCS 8 PEM, readable only by its owner. */
export async function openSigningKey(source: KeySource): Promise<Result<SigningKey, KeyError>> {
  if (source.kind === 'secret') {
    const key = createSecretKey(Buffer.from(source.secret.reveal(), 'utf8'))
    return ok({ algorithm: 'HS256', sign: key, verify: key })
  }
  const { path } = source
  try {
    const key = signingKey(path, (await readIfThere(path)) ?? (await makeKeyFile(path)))
    const { mode } = await stat(path)
    if (!key.ok || !isOpenToOthers(mode)) return key
    const reason = `its mode ${(mode & 0o777).toString(8)} allows access by other users; run chmod 600`
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason })
  } catch (thrown) {
    // A file system error, such as a directory at the path or missing permissions: for the operator to repair, not a bug.
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason: messageIn(thrown) })
  }
}

/** Whether others may access the file. The group may read it, because supervisors mount files like that. Windows has no modes. */
function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o037) !== 0
}

function signingKey(path: string, pem: string): Result<SigningKey, KeyError> {
  const sign = privateKeyOf(pem)
  if (sign === undefined) {
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason: 'contains no private key as PEM' })
  }
  const { asymmetricKeyType: kind, asymmetricKeyDetails: { namedCurve = kind } = {} } = sign
  const algorithm = algorithmByCurve.get(namedCurve ?? '')
  if (algorithm === undefined) {
    const reason = `contains a key of the type ${namedCurve}, not ed25519 or prime256v1 (P-256)`
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason })
  }
  return ok({ algorithm, sign, verify: createPublicKey(sign) })
}

const algorithmByCurve: ReadonlyMap<string, 'EdDSA' | 'ES256'> = new Map([
  ['ed25519', 'EdDSA'],
  ['prime256v1', 'ES256'],
])

function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    // OpenSSL reports invalid input only by throwing, and its messages do not help an operator.
    return undefined
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (thrown) {
    if (isCode(thrown, 'ENOENT')) return undefined
    throw thrown
  }
}

/** Creates the key file atomically. If two processes start at once, the first one wins. */
async function makeKeyFile(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const draft = `${path}.${randomUUID()}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    await link(draft, path)
  } catch (thrown) {
    if (!isCode(thrown, 'EEXIST')) throw thrown
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(path, 'utf8')
}

function isCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}
