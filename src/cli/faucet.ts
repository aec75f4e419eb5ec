import { flagMessage, parseFlags } from '../lib/flags.ts'
import { decodeBech32 } from '../protocol/bech32.ts'
import { isNodeUrl } from '../setting-values.ts'
import { asksForHelp, type Command, done, failed, refuse, table } from './command.ts'
import { createGatewayClient } from './gateway-client.ts'
import { networkParameters } from './spend.ts'

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
    const [amount = '1000000000'] = values.get('amount') ?? []
    const [url = 'http://127.0.0.1:4000'] = values.get('url') ?? []
    const wrong = [
      ...problems.filter(({ code }) => code !== 'WORD_UNEXPECTED').map(flagMessage),
      ...(text === undefined ? ['ADDRESS is needed'] : []),
      ...(texts.length > 1 ? ['one ADDRESS at a time'] : []),
      ...(text !== undefined && !decodeBech32(text).ok ? [`${text} is no Bech32 address`] : []),
      ...(/^[1-9][0-9]{0,18}$/.test(amount) ? [] : ['--amount must be a whole number above 0']),
      ...(isNodeUrl(url) ? [] : ['--url must be http(s)://HOST[:PORT][/PATH]']),
    ]
    if (wrong.length > 0 || text === undefined) return refuse(process, 'faucet', wrong)
    const client = createGatewayClient(url.replace(/\/$/, ''))
    try {
      const { bech32Hrp } = await networkParameters(client)
      if (!isOfNetwork(text, bech32Hrp)) {
        const said = `${text} is an address of another network; this one writes ${bech32Hrp}1…`
        process.stderr(`ledger-gateway faucet: ${said}\n`)
        return failed
      }
      const asked = { address: text, amount }
      const { transactionId } = await client.post(`/api/enqueue?wait=${longestWait}`, asked)
      if (typeof transactionId === 'string') {
        process.stdout(`${transactionId}\n`)
        return done
      }
      const said = 'the request waits still, and is paid when its turn comes'
      process.stderr(`ledger-gateway faucet: ${said}\n`)
      return failed
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

/** Seconds: the gateway answers when the transaction is booked, and at the latest then. */
const longestWait = 60

/** The faucet pays to the bytes alone; the owner of an address of another network would wait for the payment there. */
function isOfNetwork(text: string, hrp: string): boolean {
  return text.toLowerCase().startsWith(`${hrp}1`)
}
