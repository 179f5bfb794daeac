# Naive Bayes as R's package e1071 computes it, and distributions as base R has them.
#
# Regenerate in this folder with
#     Rscript e1071.R > e1071.json
# on Debian after: apt-get install r-base-core r-cran-e1071

suppressPackageStartupMessages(library(e1071))

# --- JSON by hand, so that no further package is needed. Lists are objects, vectors arrays, those of length 1 scalars.

number <- function(x) {
  if (is.na(x)) return("null")
  short <- sprintf("%.15g", x)
  if (as.numeric(short) == x) short else sprintf("%.17g", x)
}

json <- function(x) {
  if (is.list(x)) return(sprintf("{\n%s\n}", paste0('"', names(x), '": ', sapply(x, json), collapse = ",\n")))
  if (is.factor(x)) x <- as.character(x)
  cells <- if (is.numeric(x)) sapply(x, number) else ifelse(is.na(x), "null", sprintf('"%s"', x))
  if (length(cells) == 1) return(unname(cells))
  paste(strwrap(sprintf("[%s]", paste(cells, collapse = ", ")), 118), collapse = "\n")
}

# --- Data: cells and label of each row, and how often the row is there.

rows <- function(cells, label, frequency = rep(1, nrow(cells))) {
  list(cells = cells, label = label, frequency = frequency)
}

# Column j is empty wherever i %/% 2^(j - 1) is a multiple of 5: rows with no, some and only holes.
with_holes <- function(data) {
  for (j in seq_along(data$cells)) {
    data$cells[(seq_len(nrow(data$cells)) %/% 2^(j - 1)) %% 5 == 0, j] <- NA
  }
  data
}

titanic <- as.data.frame(Titanic)
hair_eye <- as.data.frame(HairEyeColor)
cars <- transform(mtcars[c("cyl", "gear", "am", "mpg", "wt")], gear = factor(gear), am = factor(am))

tenth <- iris[seq(1, 150, 10), ]

datasets <- list(
  iris = rows(iris[1:4], iris$Species),
  iris_holes = with_holes(rows(iris[1:4], iris$Species)),
  # The last flower is asked about and not learned: its petal length is so far out that every density underflows.
  iris_far = rows(rbind(tenth[1:4], c(5, 3.4, 55, 0.2)), tenth$Species[c(1:15, 1)], c(rep(1, 15), 0)),
  titanic = rows(titanic[c("Class", "Sex", "Age")], titanic$Survived, titanic$Freq),
  titanic_holes = with_holes(rows(titanic[c("Class", "Sex", "Age")], titanic$Survived, titanic$Freq)),
  titanic_class = rows(titanic[c("Sex", "Age", "Survived")], titanic$Class, titanic$Freq),
  hair = rows(hair_eye[c("Eye", "Sex")], hair_eye$Hair, hair_eye$Freq),
  # Red hair is taken away: a level that is declared and never seen.
  hair_unseen = rows(hair_eye[c("Hair", "Sex")], hair_eye$Eye, ifelse(hair_eye$Hair == "Red", 0, hair_eye$Freq)),
  cars = rows(cars[c("gear", "am", "mpg", "wt")], factor(cars$cyl))
)

# --- Models: learned from the rows as often as they are there, asked about each row once.

columns_of <- function(table) as.list(as.data.frame.matrix(table))

parameters <- function(model) {
  mapply(function(table, numeric) {
    if (numeric) list(mean = table[, 1], sd = table[, 2]) else columns_of(table)
  }, model$tables, model$isnumeric[names(model$tables)], SIMPLIFY = FALSE)
}

fitted <- function(data, laplace = 0, ...) {
  data <- datasets[[data]]
  repeated <- rep(seq_along(data$frequency), data$frequency)
  model <- naiveBayes(data$cells[repeated, ], data$label[repeated], laplace = laplace)
  posterior <- predict(model, data$cells, type = "raw", ...)
  colnames(posterior) <- model$levels
  list(
    classes = model$levels,
    prior = as.numeric(model$apriori / sum(model$apriori)),
    parameters = parameters(model),
    posterior = columns_of(posterior)
  )
}

models <- list(
  iris = fitted("iris"),
  iris_holes = fitted("iris_holes"),
  iris_far = fitted("iris_far"),
  titanic_0 = fitted("titanic"),
  titanic_0.5 = fitted("titanic", 0.5),
  titanic_1 = fitted("titanic", 1),
  titanic_holes_0 = fitted("titanic_holes"),
  titanic_holes_0.5 = fitted("titanic_holes", 0.5),
  titanic_holes_1 = fitted("titanic_holes", 1),
  titanic_class_0 = fitted("titanic_class"),
  titanic_class_limit = fitted("titanic_class", threshold = 1e-200),
  hair_0 = fitted("hair"),
  hair_0.5 = fitted("hair", 0.5),
  hair_1 = fitted("hair", 1),
  hair_unseen_0.5 = fitted("hair_unseen", 0.5),
  hair_unseen_1 = fitted("hair_unseen", 1),
  cars_1 = fitted("cars", 1)
)

# --- Distributions on a small grid: one array per argument, and the value.

on_grid <- function(f, ...) {
  at <- expand.grid(...)
  as.list(cbind(at, value = do.call(f, at)))
}

log_dnbinom <- function(...) dnbinom(..., log = TRUE)
log_dt <- function(...) dt(..., log = TRUE)
p <- c(0.005, 0.025, 0.5, 0.975, 0.995)
distributions <- list(
  qbeta = on_grid(qbeta, p = p, shape1 = c(0.5, 1, 6, 200), shape2 = c(0.5, 1, 15, 3000.5)),
  qgamma = on_grid(qgamma, p = p, shape = c(0.5, 1, 7.25, 500), rate = c(0.1, 1, 30)),
  qt = on_grid(qt, p = p, df = c(1, 2, 5.5, 52, 1000)),
  lbeta = on_grid(lbeta, a = c(0.5, 1, 2, 31.5, 4000), b = c(0.5, 1, 7, 900)),
  log_dnbinom = on_grid(log_dnbinom, x = c(0, 1, 5, 40), size = c(0.5, 3, 120.5), prob = c(0.1, 0.5, 0.95)),
  log_dt = on_grid(log_dt, x = c(-12, -1, 0, 0.3, 4, 60), df = c(1, 2, 5.5, 52, 1000))
)

cat(json(list(
  versions = list(R = as.character(getRversion()), e1071 = packageDescription("e1071")$Version),
  datasets = datasets,
  models = models,
  distributions = distributions
)), "\n", sep = "")
