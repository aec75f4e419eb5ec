import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { err, ok, type Result } from '../lib/result.ts'
import type { Secret } from '../lib/secret.ts'

/** The key that tokens are signed and checked with: one algorithm, and no other is ever accepted. */
export interface SigningKey {
  readonly algorithm: 'EdDSA' | 'HS256'
  readonly sign: KeyObject
  readonly verify: KeyObject
}

/** Where the key is: a file of ours (EdDSA), or a shared secret (HS256). */
export type KeySource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'secret'; readonly secret: Secret }

/** Why there is no key. */
export interface KeyError {
  readonly code: 'KEY_FILE_UNUSABLE'
  readonly path: string
  readonly reason: string
}

/** Opens the key. A key file that is not there yet is made: Ed25519, PKCS 8 as PEM, readable by its owner alone. */
export async function openSigningKey(source: KeySource): Promise<Result<SigningKey, KeyError>> {
  if (source.kind === 'secret') {
    const key = createSecretKey(Buffer.from(source.secret.reveal(), 'utf8'))
    return ok({ algorithm: 'HS256', sign: key, verify: key })
  }
  const { path } = source
  try {
    return edKey(path, (await readIfThere(path)) ?? (await makeKeyFile(path)))
  } catch (thrown) {
    // The disk says no (a folder in the way, no right to read): for the operator to repair, not a bug.
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason: reasonOf(thrown) })
  }
}

function edKey(path: string, pem: string): Result<SigningKey, KeyError> {
  const sign = privateKeyOf(pem)
  if (sign === undefined) {
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason: 'holds no private key as PEM' })
  }
  if (sign.asymmetricKeyType !== 'ed25519') {
    const reason = `holds a key of kind ${sign.asymmetricKeyType}, not ed25519`
    return err({ code: 'KEY_FILE_UNUSABLE', path, reason })
  }
  return ok({ algorithm: 'EdDSA', sign, verify: createPublicKey(sign) })
}

function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    // OpenSSL has no other way to say no, and its words mean nothing to an operator.
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

/** Two processes may start at once: the file appears whole or not at all, and the first one wins. */
async function makeKeyFile(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const draft = `${path}.${randomUUID()}`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  try {
    await link(draft, path)
  } catch (thrown) {
    if (!isCode(thrown, 'EEXIST')) throw thrown
  } finally {
    await rm(draft)
  }
  return readFile(path, 'utf8')
}

function isCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
