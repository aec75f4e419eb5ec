# The same without a client: sh curl.sh URL ADDRESS
url=$1
address=$2

# Where the feed begins: its cursor is that of the newest milestone.
document='subscription Follow($of: [String!], $after: String) {
  ledgerUpdates(addresses: $of, after: $after) {
    __typename
    ... on FeedOpened { cursor }
    ... on LedgerUpdateBatch { cursor updates { isSpent output { amount } } }
  }
}'
body=$(printf '%s' "$document" | tr '\n' ' ')

# Funds of the development network, which arrive some seconds later.
curl -sS "$url/api/enqueue" -H 'Content-Type: application/json' -d "{\"address\":\"$address\"}"
echo

# Follows until it is interrupted. Each event has its cursor as its id: pass the last one as "after" to go on from there.
curl -sSN "$url/graphql" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \
  -d "{\"query\":\"$body\",\"variables\":{\"of\":[\"$address\"]}}"
