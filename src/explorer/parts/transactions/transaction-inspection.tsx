import type { Signed } from '../../../generated/explorer/decode.ts'
import { toolTexts } from '../../texts-tools.ts'
import { Fact } from '../facts.tsx'
import { Id } from '../values/id.tsx'
import { Mark } from '../values/mark.tsx'
import { IdFact } from '../values/value-facts.tsx'

/** Facts that are derived from a signed transaction alone. */

const words = toolTexts.decode

export function TransactionFacts({ of: transaction }: { readonly of: Signed }) {
  const { transactionId, areSignaturesValid, outputIds, createdChains } = transaction
  return (
    <>
      <IdFact name={words.transaction} of="transaction" id={transactionId} isWhole />
      <Fact name={words.signatures}>
        {areSignaturesValid.length > 0 && (
          <ol class="tree-elements">
            {areSignaturesValid.map((isValid, n) => (
              <li key={n}>
                <Mark as={isValid ? 'done' : 'failed'}>{isValid ? words.right : words.wrong}</Mark>
              </li>
            ))}
          </ol>
        )}
      </Fact>
      <Fact name={words.outputs}>
        <ol class="tree-elements">
          {outputIds.map((id) => (
            <li key={id}>
              <Id of="output" id={id} />
            </li>
          ))}
        </ol>
      </Fact>
      <Fact name={words.chains}>
        {createdChains.length > 0 && (
          <ul>
            {createdChains.map(({ chainId, outputIndex }) => (
              <li key={chainId}>
                <code class="breaks">{chainId}</code> {words.inOutput(outputIndex)}
              </li>
            ))}
          </ul>
        )}
      </Fact>
    </>
  )
}
