import { existsSync } from 'node:fs'
import { readTrustedDocuments } from './api/graphql/execution/documents.ts'
import { openKeySet } from './api/tokens/key-set.ts'
import { openRevocations } from './api/tokens/revocations.ts'
import { openSigningKey } from './api/tokens/signing-key.ts'
import { configMessage, type Environment, parseConfig, serveFlags, signingOf } from './config.ts'
import { systemClock } from './lib/clock.ts'
import { silentLog } from './lib/log.ts'
import { ok, type Result } from './lib/result.ts'
import { readGenesisFile, readParametersFile } from './node/genesis-file.ts'
import { planGenesis } from './node/open-ledger.ts'
import { checkSnapshotFile } from './node/snapshot/snapshot-source.ts'
import { readSettings } from './read-settings.ts'
import { isNodeUrl } from './setting-values.ts'
import { type Setting, type SettingValues, settings } from './settings.ts'

/** Checks settings and the files that they name, without starting anything. */

/** A problem with a setting. The object also has the members of the underlying error. */
export interface SettingsProblem {
  readonly code: string
  readonly message: string
}

/** Returns every problem, including problems of values that a flag or an environment variable overrides. */
export async function checkConfig(
  env: Environment,
  words: readonly string[],
): Promise<readonly SettingsProblem[]> {
  const config = parseConfig(env, words)
  const { values, given, overruled } = readSettings(env, serveFlags(words).values)
  const errors = [...(config.ok ? [] : config.error), ...overruled]
  const unusable = await Promise.all(
    namedFiles(values).map(async ([{ name, variable }, read]) => {
      const found = await read()
      const place = given.get(name)?.place ?? variable
      return found.ok
        ? []
        : [{ ...found.error, setting: place, message: fileMessage(place, found.error) }]
    }),
  )
  return [...errors.map((one) => ({ ...one, message: configMessage(one) })), ...unusable.flat()]
}

interface UnusableFile {
  readonly code: string
  readonly path: string
  readonly reason: string
}

function fileMessage(place: string, { path, reason }: UnusableFile): string {
  return `${place}: ${path} cannot be used: ${reason}`
}

type NamedFile = readonly [Setting, () => Promise<Result<unknown, UnusableFile>>]

/** The files that the gateway reads when it starts, each with the function that reads it. */
function namedFiles(values: Partial<SettingValues>): readonly NamedFile[] {
  const { snapshot, genesisFile, parametersFile, trustedDocuments } = values
  const { jwtRevocations, jwtJwks } = values
  const files: NamedFile[] = []
  if (snapshot && !isNodeUrl(snapshot)) {
    files.push([settings.snapshot, () => checkSnapshotFile(snapshot)])
  }
  if (genesisFile) files.push([settings.genesisFile, () => readGenesisFile(genesisFile)])
  if (parametersFile)
    files.push([settings.parametersFile, () => readParameters(parametersFile, genesisFile)])
  if (trustedDocuments) {
    files.push([settings.trustedDocuments, () => readTrustedDocuments(trustedDocuments)])
  }
  if (jwtRevocations) {
    const open = () => openAndClose(openRevocations(jwtRevocations, silentLog))
    files.push([settings.jwtRevocations, open])
  }
  // The gateway fetches a key set from a URL only while it runs.
  if (jwtJwks?.kind === 'file') {
    files.push([settings.jwtJwks, () => openAndClose(openKeySet(jwtJwks, silentLog))])
  }
  const { databaseUrl } = values
  const signing = databaseUrl && signingOf({ ...values, databaseUrl })
  // The gateway creates a missing key file when it starts.
  if (signing?.kind === 'file' && existsSync(signing.path)) {
    files.push([settings.keyFile, () => openSigningKey(signing)])
  }
  return files
}

/** Reads parameters, and checks that the genesis fits them. A malformed genesis file is a problem of its own setting. */
async function readParameters(
  parametersFile: string,
  genesisFile: string | undefined,
): Promise<Result<unknown, UnusableFile>> {
  const parameters = await readParametersFile(parametersFile)
  if (!parameters.ok) return parameters
  const asked = { ledger: 'embedded', genesisFile, parametersFile } as const
  const plan = await planGenesis(asked, systemClock)
  return plan.ok || plan.error.path === parametersFile ? plan : ok(undefined)
}

/** Closes a resource that watches a file as soon as it has read the file. */
async function openAndClose<E>(
  opening: Promise<Result<{ close(): void }, E>>,
): Promise<Result<undefined, E>> {
  const opened = await opening
  if (!opened.ok) return opened
  opened.value.close()
  return ok(undefined)
}
