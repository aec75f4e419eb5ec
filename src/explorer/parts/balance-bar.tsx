import { texts } from '../texts.ts'
import { Amount } from './values/amount.tsx'

/** A balance as a bar, divided into available, timelocked and expiring tokens and storage deposits. */

export interface Balance {
  readonly total: string
  readonly available: string
  readonly timelocked: string
  readonly storageDeposit: string
  readonly expiring: string
}

const parts = ['available', 'timelocked', 'expiring', 'storageDeposit'] as const

export function BalanceBar({ of: balance }: { readonly of: Balance }) {
  const shown = parts.filter((part) => balance[part] !== '0')
  const sum = shown.reduce((all, part) => all + Number(balance[part]), 0)
  return (
    <div class="balance">
      <p class="balance-total">
        <Amount value={balance.total} />
      </p>
      {shown.length > 0 && (
        <div class="balance-bar" aria-hidden="true">
          {shown.map((part) => (
            <span
              key={part}
              class={`balance-${part}`}
              style={{ flexGrow: String(Number(balance[part]) / sum) }}
            />
          ))}
        </div>
      )}
      <dl class="balance-parts">
        {shown.map((part) => (
          <div key={part}>
            <dt>
              <span class={`swatch balance-${part}`} aria-hidden="true" /> {texts.balance[part]}
            </dt>
            <dd>
              <Amount value={balance[part]} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
