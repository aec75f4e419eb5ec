import { storedManaOf } from '../ledger/output-parts.ts'
import { membersOf } from '../lib/json.ts'
import { readJsonFile } from '../lib/json-file.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { sum } from '../lib/sum.ts'
import { passTurn } from '../lib/turns.ts'
import { parseParameters } from '../protocol/network.ts'
import { Output } from '../protocol/outputs.ts'
import { type ProtocolParameters, supportedProtocolVersion } from '../protocol/parameters.ts'
import { AccountId, BaseToken } from '../protocol/primitives.ts'
import { refusalMessage } from '../protocol/refusal-message.ts'
import { parse, type Schema } from '../protocol/schema/schema.ts'
import type { GenesisPlan } from './genesis.ts'
import { readIotaCoreGenesis } from './snapshot/iota-core/genesis.ts'
import { isWrittenByIotaCore } from './snapshot/iota-core/open-file.ts'

/**
 * A genesis as a file: `{"parameters": {…}, "outputs": [{…}], "credits": {"0x…": "1000"}}`. Parameters and outputs are in the JSON
 * of the protocol. Credits are block issuance credits by account id and are optional. The first snapshot file of a network of
 * iota-core nodes is accepted too.
 */

/** The file is not a valid genesis. */
export interface GenesisFileInvalid {
  readonly code: 'GENESIS_FILE_INVALID'
  readonly path: string
  readonly reason: string
}

export async function readGenesisFile(
  path: string,
): Promise<Result<GenesisPlan, GenesisFileInvalid>> {
  const refuse = (reason: string) => err({ code: 'GENESIS_FILE_INVALID', path, reason } as const)
  // An unreadable file is reported below.
  if (await isWrittenByIotaCore(path).catch(() => false)) {
    const genesis = await readIotaCoreGenesis(path)
    const wrong = genesis.ok ? amountsWrong(genesis.value) : genesis.error
    return genesis.ok && wrong === undefined ? genesis : refuse(wrong ?? '')
  }
  const json = await readJsonFile(path)
  if (!json.ok) return refuse(json.error)
  const { parameters, outputs, credits = {} } = membersOf(json.value)
  const network = parseParameters(parameters)
  if (!network.ok) return refuse(refusalMessage(network.error, 'parameters'))
  if (!Array.isArray(outputs) || outputs.length === 0) {
    return refuse('outputs must be a list of at least one output')
  }
  const parsed = await parseAll(Output, outputs, 'outputs')
  if (!parsed.ok) return refuse(parsed.error)
  const wrong = amountsWrong({ parameters: network.value, outputs: parsed.value })
  if (wrong !== undefined) return refuse(wrong)
  const accounts = await parseAll(AccountId, Object.keys(membersOf(credits)), 'credits')
  if (!accounts.ok) return refuse(accounts.error)
  const amounts = await parseAll(BaseToken, Object.values(membersOf(credits)), 'credits')
  if (!amounts.ok) return refuse(amounts.error)
  const excessive = accounts.value.find((_, i) => (amounts.value[i] ?? 0n) >> 63n !== 0n)
  // Credits are signed 64-bit integers: a larger number would be a debt.
  if (excessive !== undefined) return refuse(`credits.${excessive} must be below 2^63`)
  return ok({
    parameters: network.value,
    outputs: parsed.value,
    credits: new Map(accounts.value.map((id, i) => [id, amounts.value[i] ?? 0n])),
  })
}

/** Returns why the outputs cannot be those of a genesis with the parameters; `undefined` if they can. */
export function amountsWrong({
  parameters: { tokenSupply: supply },
  outputs,
}: Pick<GenesisPlan, 'parameters' | 'outputs'>): string | undefined {
  const total = sum(outputs.map(({ amount }) => amount))
  if (total !== supply) return `outputs hold ${total} base tokens, the supply is ${supply}`
  // The database stores balances as signed 64-bit integers.
  if (supply >> 63n !== 0n) return 'parameters.tokenSupply must be below 2^63'
  // As in every transaction. The mana of an address then fits into 64 bits.
  const mana = sum(outputs.map(storedManaOf))
  return mana >> 63n === 0n ? undefined : 'the stored mana of all outputs must be below 2^63'
}

/**
 * Reads protocol parameters from a file. The file holds the parameters, or the response of a node's `/api/core/v3/info`, from which
 * the newest parameters of the supported version are read.
 */
export async function readParametersFile(
  path: string,
): Promise<Result<ProtocolParameters, GenesisFileInvalid>> {
  const refuse = (reason: string) => err({ code: 'GENESIS_FILE_INVALID', path, reason } as const)
  const json = await readJsonFile(path)
  if (!json.ok) return refuse(json.error)
  const { protocolParameters: list } = membersOf(json.value)
  const parameters = parseParameters(Array.isArray(list) ? newestKnown(list) : json.value)
  return parameters.ok ? parameters : refuse(refusalMessage(parameters.error, 'parameters'))
}

/** The newest parameters of the known version. Without any, returns the newest parameters, whose parse error names the cause. */
function newestKnown(list: readonly unknown[]): unknown {
  const known = list.findLast(
    (item) => membersOf(membersOf(item).parameters).version === supportedProtocolVersion,
  )
  return membersOf(known ?? list.at(-1)).parameters
}

async function parseAll<T>(
  schema: Schema<T>,
  items: readonly unknown[],
  place: string,
): Promise<Result<T[], string>> {
  const values: T[] = []
  for (const [index, item] of items.entries()) {
    const value = parse(schema, item)
    if (!value.ok) return err(refusalMessage(value.error, `${place}.${index}`))
    values.push(value.value)
    if (index % itemsPerTurn === 0) await passTurn()
  }
  return ok(values)
}

/** Parsing this many items takes one or two milliseconds. */
const itemsPerTurn = 128
