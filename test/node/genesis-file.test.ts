import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { checkConfig } from '../../src/check-config.ts'
import { present } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { developmentGenesis, developmentKeys } from '../../src/node/embedded/development.ts'
import { readGenesisFile, readParametersFile } from '../../src/node/genesis-file.ts'
import { planGenesis } from '../../src/node/open-ledger.ts'
import { type AccountOutput, Output } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { print } from '../../src/protocol/schema/schema.ts'

const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-genesis-'))
const path = join(folder, 'genesis.json')
afterAll(() => rmSync(folder, { recursive: true }))

const plan = developmentGenesis(developmentKeys(), 1_700_000_000)

const { accountId } = accountIn(plan.outputs)

/** Reads the development genesis with another supply and credits; the first output holds the difference. */
async function read(supply: bigint, held = supply, credits = 0n) {
  const [first, ...others] = plan.outputs
  const amount = (first?.amount ?? 0n) + held - plan.parameters.tokenSupply
  const outputs = [{ ...first, amount } as Output, ...others]
  const parameters = { ...plan.parameters, tokenSupply: supply }
  const json = {
    parameters: print(ProtocolParameters, parameters),
    outputs: outputs.map((output) => print(Output, output)),
    credits: { [accountId]: `${credits}` },
  }
  writeFileSync(path, JSON.stringify(json))
  return readGenesisFile(path)
}

function accountIn(outputs: readonly Output[]): AccountOutput {
  return present(
    outputs.find((output) => output.type === 1),
    'an account',
  )
}

describe('a genesis file', () => {
  test('is read with its parameters and outputs', async () => {
    const read63 = await read(2n ** 63n - 1n)
    expect(read63.ok && read63.value.outputs).toHaveLength(plan.outputs.length)
    expect(read63.ok && read63.value.parameters.tokenSupply).toBe(2n ** 63n - 1n)
  })

  test('gives an account at most the credits that an account can have', async () => {
    const { tokenSupply } = plan.parameters
    const most = await read(tokenSupply, tokenSupply, 2n ** 63n - 1n)
    expect(most.ok && most.value.credits).toEqual(new Map([[accountId, 2n ** 63n - 1n]]))
    expect(await read(tokenSupply, tokenSupply, 2n ** 63n)).toMatchObject({
      error: { code: 'GENESIS_FILE_INVALID', reason: `credits.${accountId} must be below 2^63` },
    })
  })

  test('may have more outputs than a transaction', async () => {
    const [first] = plan.outputs
    const { tokenSupply } = plan.parameters
    const outputs = Array.from({ length: 200 }, (_, i) => {
      const amount = i === 0 ? tokenSupply - 199n * 50_000n : 50_000n
      return { ...first, amount, mana: 0n } as Output
    })
    const parameters = print(ProtocolParameters, plan.parameters)
    const json = (some: readonly Output[]) => ({
      parameters,
      outputs: some.map((output) => print(Output, output)),
    })
    writeFileSync(path, JSON.stringify(json(outputs)))
    const many = await readGenesisFile(path)
    expect(many.ok && many.value.outputs).toHaveLength(200)
    writeFileSync(path, JSON.stringify(json([])))
    expect(await readGenesisFile(path)).toMatchObject({
      error: {
        code: 'GENESIS_FILE_INVALID',
        reason: 'outputs must be a list of at least one output',
      },
    })
  })

  const rejected = [
    ['more tokens than a balance can hold', 2n ** 63n, 2n ** 63n, 'below 2^63'],
    ['outputs that hold less than the supply', 2n ** 50n + 1n, 2n ** 50n, 'the supply is'],
  ] as const

  test.each(rejected)('is rejected with %s', async (_name, supply, held, reason) => {
    expect(await read(supply, held)).toMatchObject({
      ok: false,
      error: { code: 'GENESIS_FILE_INVALID', path, reason: expect.stringContaining(reason) },
    })
  })
})

test('outputs with more stored mana than a transaction may have are refused', async () => {
  const parameters = print(ProtocolParameters, plan.parameters)
  const [first, ...others] = plan.outputs
  for (const [mana, ok] of [
    [2n ** 63n - 1n, true],
    [2n ** 63n, false],
  ] as const) {
    const outputs = [{ ...first, mana } as Output, ...others].map((one) => print(Output, one))
    writeFileSync(path, JSON.stringify({ parameters, outputs }))
    const reason = 'the stored mana of all outputs must be below 2^63'
    const error = { code: 'GENESIS_FILE_INVALID', path, reason }
    expect(await readGenesisFile(path)).toMatchObject(ok ? { ok } : { ok, error })
  }
})

test('parameters by which the rules cannot divide are refused', async () => {
  const parameters = Object(print(ProtocolParameters, plan.parameters))
  for (const name of ['slotDurationInSeconds', 'validationBlocksPerSlot']) {
    const reason = expect.stringContaining(`${name} must be above 0`)
    writeFileSync(path, JSON.stringify({ ...parameters, [name]: 0 }))
    expect(await readParametersFile(path)).toMatchObject({ error: { reason } })
    writeFileSync(path, JSON.stringify({ parameters: { ...parameters, [name]: 0 }, outputs: [] }))
    expect(await readGenesisFile(path)).toMatchObject({ error: { reason } })
  }
})

test('parameters with another supply than that of the genesis are refused', async () => {
  const { tokenSupply } = plan.parameters
  const parameters = { ...plan.parameters, tokenSupply: tokenSupply - 1n }
  writeFileSync(path, JSON.stringify(print(ProtocolParameters, parameters)))
  const reason = `outputs hold ${tokenSupply} base tokens, the supply is ${tokenSupply - 1n}`
  const error = { code: 'GENESIS_FILE_INVALID', path, reason }
  const settings = { ledger: 'embedded', genesisFile: undefined, parametersFile: path } as const
  expect(await planGenesis(settings, systemClock)).toEqual({ ok: false, error })
  expect(await checkConfig({ PARAMETERS_FILE: path }, [])).toMatchObject([error])
})

test('a response of a node with several versions of parameters is read in the supported version', async () => {
  const parameters = print(ProtocolParameters, plan.parameters)
  const later = { startEpoch: 9, parameters: { type: 1, version: 4, shape: 'another' } }
  const answer = (...known: readonly object[]) => ({ name: 'x', protocolParameters: known })
  writeFileSync(path, JSON.stringify(answer({ startEpoch: 0, parameters }, later)))
  expect(await readParametersFile(path)).toEqual({ ok: true, value: plan.parameters })
  writeFileSync(path, JSON.stringify(answer(later)))
  expect(await readParametersFile(path)).toMatchObject({ error: { code: 'GENESIS_FILE_INVALID' } })
})
