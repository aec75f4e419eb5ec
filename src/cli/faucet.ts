import { flagMessage, parseFlags } from '../lib/flags.ts'
import { developmentKeys } from '../node/embedded/development.ts'
import { Address } from '../protocol/addresses.ts'
import { decodeBech32 } from '../protocol/bech32.ts'
import { decode } from '../protocol/schema/schema.ts'
import { isNodeUrl } from '../setting-values.ts'
import { asksForHelp, type Command, done, failed, refuse, table } from './command.ts'
import { createGatewayClient } from './gateway-client.ts'
import { networkParameters, type PaymentRefused, pay } from './spend.ts'

/** Gives base tokens of the development network to an address. */
export const faucet: Command = {
  help: `Gives base tokens of the development network to an address, over a running gateway.

Usage: ledger-gateway faucet ADDRESS [FLAGS]

${table([
  ['ADDRESS', 'Bech32 text of the receiver'],
  ['--amount NUMBER', 'base tokens in the smallest unit (1000000000)'],
  ['--url URL', 'of the running gateway (http://127.0.0.1:4000)'],
])}

It prints the id of the transaction when it is booked. The faucet exists only where the ledger was
begun as the development network.
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(faucet.help)
      return done
    }
    const { values, problems } = parseFlags(words, { once: ['amount', 'url'] })
    const texts = problems.filter(({ code }) => code === 'WORD_UNEXPECTED').map(({ word }) => word)
    const [text] = texts
    const to = text === undefined ? undefined : receiver(text)
    const [amount = '1000000000'] = values.get('amount') ?? []
    const [url = 'http://127.0.0.1:4000'] = values.get('url') ?? []
    const wrong = [
      ...problems.filter(({ code }) => code !== 'WORD_UNEXPECTED').map(flagMessage),
      ...(text === undefined ? ['ADDRESS is needed'] : []),
      ...(texts.length > 1 ? ['one ADDRESS at a time'] : []),
      ...(text !== undefined && to === undefined ? [`${text} is no Bech32 address`] : []),
      ...(/^[1-9][0-9]{0,18}$/.test(amount) ? [] : ['--amount must be a whole number above 0']),
      ...(isNodeUrl(url) ? [] : ['--url must be http(s)://HOST[:PORT][/PATH]']),
    ]
    if (wrong.length > 0 || to === undefined || text === undefined) {
      return refuse(process, 'faucet', wrong)
    }
    const client = createGatewayClient(url.replace(/\/$/, ''))
    try {
      const { bech32Hrp } = await networkParameters(client)
      if (!isOfNetwork(text, bech32Hrp)) {
        const said = `${text} is an address of another network; this one writes ${bech32Hrp}1…`
        process.stderr(`ledger-gateway faucet: ${said}\n`)
        return failed
      }
      const { faucet: from } = developmentKeys()
      const nowNs = process.clock.nowNs()
      const paid = await pay(client, { from, to, amount: BigInt(amount), nowNs })
      if (paid.ok) process.stdout(`${paid.value.transactionId}\n`)
      else process.stderr(`ledger-gateway faucet: ${sentence(paid.error)}\n`)
      return paid.ok ? done : failed
    } catch (failure) {
      // A gateway that is away or refuses says so by an exception, and people want its sentence.
      const reason = failure instanceof Error ? failure.message : 'failed'
      process.stderr(`ledger-gateway faucet: ${url}: ${reason}\n`)
      return failed
    } finally {
      await client.close()
    }
  },
}

function receiver(text: string): Address | undefined {
  const bech32 = decodeBech32(text)
  const address = bech32.ok ? decode(Address, bech32.value.bytes) : bech32
  return address.ok ? address.value : undefined
}

/** The bytes alone would be paid here, and whoever wrote the text waits for it elsewhere. */
function isOfNetwork(text: string, hrp: string): boolean {
  return text.toLowerCase().startsWith(`${hrp}1`)
}

function sentence(error: PaymentRefused): string {
  switch (error.code) {
    case 'AMOUNT_TOO_SMALL':
      return `--amount must be at least ${error.least}, what an output to this address must hold`
    case 'FUNDS_MISSING':
      return 'the faucet has no output that is large enough; is this the development network?'
    case 'TRANSACTION_FAILED':
      return `the transaction ${error.transactionId} failed: ${error.reason}`
  }
}
