import { useFeed } from '@ledger-gateway/client/react'
import { createRoot } from 'react-dom/client'

interface Amounts {
  readonly output: { readonly amount: string }
}

/** What an address received and spent while the page was open. */
function Updates({ url, address }: { readonly url: string; readonly address: string }) {
  const { state, updates, ended } = useFeed<Amounts>({
    url,
    addresses: [address],
    selection: 'fragment Amounts on LedgerUpdate { output { amount } }',
    keep: 20,
  })
  return (
    <>
      <p id="state">{ended === undefined ? state : ended.message}</p>
      <ul>
        {updates.map(({ cursor, isSpent, output }) => (
          <li key={cursor}>{`${isSpent ? '-' : '+'}${output.amount}`}</li>
        ))}
      </ul>
    </>
  )
}

const asked = new URLSearchParams(location.search)
const page = <Updates url={asked.get('url') ?? ''} address={asked.get('address') ?? ''} />
createRoot(document.body).render(page)
