import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hexToBytes } from '../../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { addressKey } from '../../../../src/protocol/ids.ts'
import { startFromGenesis } from '../../../support/genesis-gateway.ts'
import { createRandom } from '../../../support/random.ts'
import { randomAddresses, randomOutput } from '../../../support/random-outputs.ts'
import { rest, restJson } from '../../../support/rest.ts'
import type { TestGateway } from '../../../support/start-gateway.ts'
import { refusal } from '../../../support/submit.ts'
import { addressOf, untilCommitted, user } from '../../../support/wallet.ts'

const random = createRandom(31)
/** All expirations are far in the future, so no output changes its owner during the test. */
const farSlot = 1_000_000
const genesisOutputs = Array.from({ length: 100 }, () => randomOutput(random, farSlot, 100))

let gateway: TestGateway
let explorer: string
beforeAll(async () => {
  gateway = await startFromGenesis(genesisOutputs)
  explorer = `${gateway.url}/api/explorer`
  await untilCommitted(gateway.url, 64)
})
afterAll(() => gateway.close())

function text(address: (typeof randomAddresses)[number], hrp = 'tst'): string {
  return encodeBech32(hrp, hexToBytes(addressKey(address)))
}

/** Sums the outputs of an address in the simplest way. */
function ownedBy(key: string) {
  const owned = genesisOutputs.filter(({ unlockConditions: [condition] }) => {
    const { address } = Object(condition)
    return addressKey(address) === key
  })
  const available = owned.reduce((sum, { amount, unlockConditions }) => {
    const conditions: readonly { type: number }[] = unlockConditions
    const isHeld = conditions.some(({ type }) => type === 2 || type === 3)
    const { returnAddress, amount: deposit = 0n } = Object(
      conditions.find(({ type }) => type === 1),
    )
    // No deposit is owed if its receiver is the owner of the output.
    const back = returnAddress && addressKey(returnAddress) !== key ? deposit : 0n
    return isHeld ? sum : sum + amount - back
  }, 0n)
  return { total: owned.reduce((sum, { amount }) => sum + amount, 0n), available }
}

describe('the balance of an address', () => {
  test('has the sum of its outputs, and the part that can be spent now', async () => {
    for (const address of randomAddresses) {
      const { total, available } = ownedBy(addressKey(address))
      const balance = await restJson(`${explorer}/v2/balance/${text(address, 'iota')}`)
      expect(balance).toEqual({
        totalBalance: total.toString(),
        availableBalance: available.toString(),
        ledgerIndex: expect.any(Number),
      })
      const withMana = await restJson(`${explorer}/v3/balance/${text(address)}`)
      expect(withMana).toMatchObject({
        totalBalance: { amount: total.toString(), storedMana: expect.stringMatching(/^\d+$/) },
        availableBalance: { amount: available.toString() },
      })
      const { stored, potential } = withMana.totalBalance.decayedMana
      expect(BigInt(stored)).toBeLessThanOrEqual(BigInt(withMana.totalBalance.storedMana))
      expect(BigInt(potential)).toBeGreaterThanOrEqual(0n)
    }
  })

  test.each(['v2', 'v3'])(
    'does not exist without outputs, and is refused for a malformed address: %s',
    async (version) => {
      const nobody = encodeBech32('tst', Uint8Array.of(0, ...new Uint8Array(32).fill(1)))
      expect((await refusal(await rest(`${explorer}/${version}/balance/${nobody}`)))[0]).toBe(404)
      expect((await refusal(await rest(`${explorer}/${version}/balance/x`)))[0]).toBe(400)
    },
  )
})

describe.each(['v2', 'v3'])('the list of the richest addresses, %s', (version) => {
  const url = () => `${explorer}/${version}/ledger/richest-addresses`

  test('is ordered by balance, the richest first', async () => {
    const { top, ledgerIndex } = await restJson(url())
    expect(top[0].address).toBe(addressOf(user(0)))
    const balances = top.map(({ balance }: { balance: string }) => BigInt(balance))
    expect(balances).toEqual(balances.toSorted((a: bigint, b: bigint) => (a > b ? -1 : 1)))
    for (const address of randomAddresses) {
      const { total } = ownedBy(addressKey(address))
      expect(top).toContainEqual({ address: text(address), balance: total.toString() })
    }
    expect((await restJson(`${url()}?top=2`)).top).toEqual(top.slice(0, 2))
    expect((await restJson(`${url()}?top=9999`)).top).toEqual(top)
    expect(ledgerIndex).toBeGreaterThanOrEqual(64)
  })

  const refused = [
    ['top=x', 400],
    ['top=-1', 400],
    ['ledger_index=x', 400],
    ['ledgerIndex=1', 400],
    ['ledger_index=1', 404],
  ] as const
  test.each(refused)('refuses %s with %i', async (query, status) => {
    expect((await refusal(await rest(`${url()}?${query}`)))[0]).toBe(status)
  })
})

describe.each(['v2', 'v3'])('the token distribution, %s', (version) => {
  const url = () => `${explorer}/${version}/ledger/token-distribution`

  test('adds up to the supply, and agrees with the list of the richest addresses', async () => {
    const { distribution } = await restJson(url())
    const { top } = await restJson(`${explorer}/${version}/ledger/richest-addresses?top=1000`)
    const balances: bigint[] = top.map(({ balance }: { balance: string }) => BigInt(balance))
    for (const { range, addressCount, totalBalance } of distribution) {
      const within = balances.filter((balance) => balance >= range.start && balance < range.end)
      expect(addressCount).toBe(String(within.length))
      expect(totalBalance).toBe(within.reduce((sum, one) => sum + one, 0n).toString())
      expect(range.end).toBe(10 * range.start)
    }
    const all = distribution.reduce(
      (sum: bigint, { totalBalance }: { totalBalance: string }) => sum + BigInt(totalBalance),
      0n,
    )
    expect(all).toBe(1_813_620_509_061_365n)
  })

  test('exists for the newest milestone alone', async () => {
    expect((await refusal(await rest(`${url()}?ledgerIndex=1`)))[0]).toBe(404)
    expect((await refusal(await rest(`${url()}?ledgerIndex=x`)))[0]).toBe(400)
  })
})
