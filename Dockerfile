# The command `ggp`: the page by default, or any other, such as a player for a match host:
#
#     docker build -t ggp .
#     docker run --rm -p 9180:9180 ggp
#     docker run --rm -p 9147:9147 ggp player --listen 0.0.0.0 --port 9147
#
# Anyone who can reach the port can run players and solvers; SECURITY.md says how to limit them.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++
WORKDIR /ggp
COPY . .
RUN cargo build --locked --profile dist --features cadical --bin ggp

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home ggp
COPY --from=build /ggp/target/dist/ggp /usr/local/bin/ggp
COPY --from=build /ggp/games /usr/share/ggp/games
USER ggp
WORKDIR /usr/share/ggp/games
EXPOSE 9147 9180
ENTRYPOINT ["ggp"]
CMD ["web", "--listen", "0.0.0.0", "--port", "9180"]
